/** What a directory is made with, ours alone, before it gets its own mode: after a crash it is known by this. */
export const NEW_FOLDER_MODE = 0o700

/**
 * The bits of a mode that are given back. Set-id bits never are: they would let a restore make a program that runs as
 * somebody else. On a directory set-user-id means nothing; set-group-id and sticky are how it is shared.
 */
export const GIVEN_BACK = { file: 0o777, dir: 0o3777 } as const
