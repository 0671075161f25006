/** A step's trouble that has a name of its own; everything else is what the file system said. */
export class StepFault extends Error {
  readonly why: 'changed' | 'not-empty' | 'missing-blob'

  constructor(why: StepFault['why'], options?: { cause?: unknown }) {
    super(why, options)
    this.name = 'StepFault'
    this.why = why
  }
}

export interface SystemError extends Error {
  readonly code: string
}

/** True for an error of the file system, which has a code such as `EACCES`. */
export function isSystemError(error: unknown): error is SystemError {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && 'syscall' in error
}
