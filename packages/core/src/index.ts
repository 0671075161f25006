export {
  type BlobId,
  blobIdSchema,
  isBlobId,
  isSealed,
  type PlainBlobId,
  type SealedBlobId,
} from '#blob/blob-id.ts'
export { applyDelta, encodeDelta } from '#blob/delta.ts'
export {
  CODECS,
  type Codec,
  type FrameHeader,
  PACK_MAGIC,
  type ParsedFrame,
  parseFrameHeader,
  writeBlockHeader,
  writeFrameHeader,
} from '#blob/pack.ts'
export {
  type Authoriser,
  authoriserSchema,
  type ConflictChoice,
  conflictChoiceSchema,
  type MachineMessage,
  machineMessageSchema,
  type PlanRequest,
  type RemotePolicy,
  type RestoreCommit,
  type RestoreRequest,
  remotePolicySchema,
  restoreRequestSchema,
  type ServerMessage,
  serverMessageSchema,
} from '#command/messages.ts'
export {
  isSettled,
  type RestoreEffect,
  type RestoreProgress,
  type RestoreState,
  type RestoreStep,
  type RestoreTransition,
  restoreStateSchema,
  stateOf,
  stepRestore,
} from '#command/state.ts'
export {
  DomainError,
  type ErrorBody,
  type ErrorCode,
  type ErrorDetails,
  errorCatalogue,
  invariant,
  isErrorCode,
} from '#errors.ts'
export type { Change, RestoreEvent } from '#history/change.ts'
export {
  extendListing,
  type Gap,
  type ListedPath,
  type Listing,
  type RemovedSpan,
  type RemovedTurn,
} from '#history/gap.ts'
export {
  findNextRedo,
  findNextUndo,
  newlyMarked,
  rememberRemoved,
  type UndoneMark,
  undoneMarks,
} from '#history/marks.ts'
export {
  chooseCut,
  type KeeperName,
  type KeptRestore,
  type KeptTurn,
  listCleanCuts,
  listKeepers,
  RETENTION_RULES,
  type RetentionInput,
  type RetentionRule,
  type RetentionWish,
} from '#history/retention.ts'
export { isInScope, type Owner, ownerOf, type ResolvedScope, resolveScope } from '#history/scope.ts'
export { changesOfRestore, type LiveStacks, liveStacks, type Stack } from '#history/stack.ts'
export { isWork, type RestoreFacts, type TurnFacts } from '#history/turn-facts.ts'
export {
  type CommandId,
  commandIdSchema,
  isId,
  type MachineId,
  machineIdSchema,
  makeId,
  type ProjectId,
  projectIdSchema,
  type RestoreId,
  restoreIdSchema,
  type TurnId,
  turnIdSchema,
  type WorkspaceId,
  workspaceIdSchema,
} from '#ids.ts'
export { limits } from '#limits.ts'
export {
  type ChainHead,
  chainHeadSchema,
  ENVELOPE_MAGIC,
  type EnvelopeHeader,
  type EnvelopeType,
  envelopeTypeSchema,
  headerLine,
  parseEnvelopeHeader,
  type Stub,
  signedPrefix,
  stubSchema,
} from '#manifest/envelope.ts'
export {
  type ChangeRef,
  type Coverage,
  changeRefSchema,
  type EndReason,
  type Entry,
  endReasonSchema,
  entrySchema,
  type GitFacts,
  gitFactsSchema,
  type Loss,
  type LossReason,
  MANIFEST_FORMAT,
  type RestoreDetail,
  type RestoreStatus,
  restoreDetailSchema,
  restoreStatusSchema,
  type Scope,
  type SkippedPath,
  type Source,
  type Step,
  scopeSchema,
  skippedPathSchema,
  sourceSchema,
  stepSchema,
  type TurnKind,
  type TurnManifest,
  turnKindSchema,
  turnManifestSchema,
} from '#manifest/manifest.ts'
export { ESCAPE, readName, writeName } from '#path/name.ts'
export { isWithin, nameOf, parentOf, type RelPath, relPathSchema, seenPathSchema } from '#path/rel-path.ts'
export { findPathFault, isGitDisguise, type PathFault, type Platform } from '#path/validate.ts'
export { isOtherKind } from '#restore/conflict.ts'
export { DATABASE_LOGS, databaseOf } from '#restore/database-files.ts'
export type { PlanContent } from '#restore/decision.ts'
export { orderSteps, type UnorderedStep } from '#restore/order.ts'
export {
  ALL_DONE,
  NOT_DURABLE,
  type SettledRestore,
  type StepOutcomes,
  settleRestore,
} from '#restore/outcome.ts'
export { type PlanInput, type PlanOptions, planRestore } from '#restore/plan.ts'
export { type PreviewFacts, previewOf } from '#restore/preview.ts'
export {
  type AlsoUndone,
  alsoUndoneSchema,
  type FailedPath,
  failedPathSchema,
  type KeptPath,
  type KeptReason,
  keptPathSchema,
  keptReasonSchema,
  type LostTrait,
  type Preview,
  previewSchema,
  REPORT_FORMAT,
  type RestoreReport,
  restoreReportSchema,
  skippedInRestoreSchema,
} from '#restore/report.ts'
export type {
  PlanStep,
  RestorePlan,
  SettledPath,
  StackEffect,
  StepList,
  StepPhase,
} from '#restore/restore-plan.ts'
export { isSensitiveChange, isSensitivePath } from '#restore/sensitive.ts'
export { canonicalJson, changedPaths, type HeadFacts, planToken, tokenBytes } from '#restore/token.ts'
export { keptWords, lostWords, skipWords } from '#restore/words.ts'
export { differOnlyInLineEnds, isText } from '#text/binary.ts'
export { concatBytes, equalBytes, utf8Bytes } from '#text/bytes.ts'
export type { Digest } from '#text/digest.ts'
export { diffHunks, HUNK_CONTEXT, type Hunk, hunkId, revertHunks } from '#text/hunks.ts'
export { diffLines, type LineChange } from '#text/line-diff.ts'
export { type ByteLine, byteString, bytesOf, joinLines, splitLines } from '#text/lines.ts'
export { mergeTexts } from '#text/merge.ts'
export { type FilePatch, type FileStatus, filePatch, type PatchSide } from '#text/unified.ts'
export { diffTrees, type TreeChange } from '#tree/diff.ts'
export {
  ABSENT,
  type AbsentState,
  absentStateSchema,
  type DirState,
  dirStateSchema,
  equalStates,
  type FileState,
  fileStateSchema,
  nothingToRecord,
  type SkippedState,
  type SkipReason,
  type State,
  type SymlinkState,
  skippedStateSchema,
  skipReasonSchema,
  stateSchema,
  symlinkStateSchema,
} from '#tree/state.ts'
export { hidesChildren, stateIn, type Tree } from '#tree/tree.ts'
export {
  type AgentSight,
  type Closing,
  type Decision,
  decideTurn,
  isAbandoned,
  isBusy,
  type OpenTurn,
  type OwnEnd,
  type SessionState,
  type TurnEvent,
} from '#turn/life.ts'
