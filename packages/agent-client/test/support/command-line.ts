import { execFile } from 'node:child_process'

export const TURNBACK = new URL(import.meta.resolve('@turnback/core')).pathname.replace(
  /packages\/core\/.*$/,
  'bin/turnback',
)

export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  /** What `--json` printed. */
  readonly json: Record<string, unknown>
}

/** Runs the real command line as its own process. */
export function turnback(
  env: Readonly<Record<string, string>>,
  folder: string,
  ...args: string[]
): Promise<Ran> {
  const { promise, resolve } = Promise.withResolvers<Ran>()
  const options = { cwd: folder, env: { PATH: process.env.PATH ?? '', ...env } }
  execFile(TURNBACK, args, options, (error, stdout, stderr) => {
    const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1
    resolve({ code, stdout, stderr, json: stdout.startsWith('{') ? JSON.parse(stdout) : {} })
  })
  return promise
}
