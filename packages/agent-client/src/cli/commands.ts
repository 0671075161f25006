import type { Register } from './context.ts'

interface CommandModule {
  readonly register: Register
}

/** Each command is loaded only when it is asked for: the others cost no time. */
export const COMMANDS: Readonly<Record<string, () => Promise<CommandModule>>> = {
  init: () => import('./init.ts'),
  log: () => import('./log.ts'),
  show: () => import('./show.ts'),
  cat: () => import('./cat.ts'),
  diff: () => import('./diff.ts'),
  preview: () => import('./preview.ts'),
  restore: () => import('./restore.ts'),
  undo: () => import('./undo.ts'),
  redo: () => import('./redo.ts'),
  recover: () => import('./recover.ts'),
  checkpoint: () => import('./checkpoint.ts'),
  install: () => import('./install.ts'),
  uninstall: () => import('./uninstall.ts'),
  run: () => import('./run-task.ts'),
  revert: () => import('./revert.ts'),
  completion: () => import('./completion.ts'),
  doctor: () => import('./doctor.ts'),
  status: () => import('./status.ts'),
  verify: () => import('./verify.ts'),
  usage: () => import('./usage.ts'),
  gc: () => import('./gc.ts'),
  pin: () => import('./pin.ts'),
  login: () => import('./login.ts'),
  connect: () => import('./connect.ts'),
  disconnect: () => import('./disconnect.ts'),
  push: () => import('./push.ts'),
  approve: () => import('./approve.ts'),
  policy: () => import('./policy.ts'),
  pause: () => import('./pause.ts'),
  mcp: () => import('./mcp.ts'),
  acp: () => import('./acp.ts'),
  'acp-scribe': () => import('./acp-scribe.ts'),
}
