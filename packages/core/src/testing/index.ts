export {
  type CommandOutcome,
  CoreWorkspace,
  RIGHT_DESIGN,
  type WorkspaceDesign,
  type WorkspaceLog,
} from './core-workspace.ts'
export { type HistoryOp, type RestoreOp, randomHistory } from './history-ops.ts'
export { HistoryOracle } from './history-oracle.ts'
export {
  applyEdit,
  type Edit,
  type MemoryTree,
  stateAt,
  textFile,
  textOf,
  writeState,
} from './memory-tree.ts'
export { SeededRandom } from './random.ts'
