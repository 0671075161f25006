import type { LostTrait, RelPath, State } from '@turnback/core'

/**
 * One change of the disk: `path` is to go from one state to another. Equal kinds (and blobs) with other modes are a
 * chmod; a change of kind takes the old thing away first, and a directory is empty by then.
 */
export interface TreeStep {
  readonly path: RelPath
  readonly from: State
  readonly to: State
}

/** What came of one step. Trouble with one path is data: it never ends a run. */
export type StepOutcome =
  | { readonly ok: true; readonly lost?: readonly LostTrait['what'][] }
  /** The path was no longer in the state that the step begins from. It was left as it is. */
  | { readonly ok: false; readonly why: 'changed' }
  /** A parent is missing, is no directory, or is a link (which is never followed). */
  | { readonly ok: false; readonly why: 'blocked'; readonly by: 'missing' | 'not-a-directory' | 'link' }
  /** The directory holds something. */
  | { readonly ok: false; readonly why: 'not-empty' }
  /** The store does not have the bytes any more, or they are damaged. */
  | { readonly ok: false; readonly why: 'missing-blob' }
  | { readonly ok: false; readonly why: 'error'; readonly code: string; readonly reason: string }

/** A directory whose mode a restore may widen for a moment, with the mode it is to have again. */
export interface FolderMode {
  readonly path: RelPath
  readonly mode: number
}

/** A directory of which the names may not survive a power cut, or a directory or file of which the mode may not. */
export interface FolderFault {
  readonly path: RelPath
  readonly code: string
  readonly reason: string
}

/** What one path is on the disk. Bytes are told by {@link TreeWriter.holds}, which knows what to compare with. */
export type Present =
  | { readonly kind: 'file'; readonly sizeBytes: number; readonly mode: number }
  | { readonly kind: 'symlink'; readonly target: string }
  | { readonly kind: 'dir'; readonly mode: number }
  | { readonly kind: 'absent' }
  | { readonly kind: 'other' }

/** A file of which bytes and mode lie beside its place already, under a name that nobody looks at. */
export interface BegunStep {
  readonly sizeBytes: number
  /** Comes back when the bytes would survive a power cut. Many that wait side by side cost little more than one. */
  sync(): Promise<void>
  /** Looks once more at what is there, and puts the file in its place. Only after {@link BegunStep.sync}. */
  finish(): StepOutcome
  /** In place of {@link BegunStep.finish}: nothing is left of it. */
  giveUp(): void
}

/**
 * Writes into one workspace for one restore. Each parent is walked part by part without following links; files
 * are written beside their place and renamed over it; nothing is ever written in place; `.git` is never touched.
 */
export interface TreeWriter {
  look(path: RelPath): Present
  /** True when the disk has the path in this very state: kind, mode, bytes, link text. */
  holds(path: RelPath, state: State): boolean
  /** The parents of these paths that this user may not write into but owns. */
  narrowFolders(paths: readonly RelPath[]): FolderMode[]
  /** Carries one step out. `index` names its temporary file, so that a later run can tell whose it was. */
  apply(step: TreeStep, index: number): StepOutcome
  /**
   * The first half of a step that writes a file's bytes, so that many can be made durable together; or what came of
   * it. Null for all other steps: they have no halves.
   */
  begin(step: TreeStep, index: number): BegunStep | StepOutcome | null
  /** Several steps one after the other cost less inside this. */
  together<T>(work: () => T): T
  /**
   * Makes the names in these folders durable, and the modes of folders and files. What is gone is passed over.
   * @returns those of which the disk said that it could not
   */
  sync(folders: readonly RelPath[], files: readonly RelPath[]): Promise<FolderFault[]>
  /** Comes back when little, or nothing, is left of what is done beside the steps: giving back the room of old files. */
  rest(until?: 'few' | 'all'): Promise<void>
  /** Lets go of what is held from one step to the next. */
  close(): void
  /**
   * After a run that was cut off: gives folders their mode back, removes what the run had begun to write, and
   * puts back what it had moved aside but not removed.
   */
  settle(steps: readonly TreeStep[], widened: readonly FolderMode[]): void
}
