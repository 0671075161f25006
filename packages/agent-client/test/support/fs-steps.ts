import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { DatabaseSync, StatementSync } from 'node:sqlite'

/** One thing that a client does to the disk: a call of `node:fs` on one of the watched folders, or of its database. */
export interface Step {
  readonly call: string
  /** The path, the path that a descriptor was opened by, or the SQL. */
  readonly target: string
  /** False for what only looks. */
  readonly isWrite: boolean
}

/** How a step was called, for who wants to know more of it than its name. */
export interface StepCall {
  readonly args: readonly unknown[]
  /** The path that an argument leads to, or null when it lies elsewhere. */
  readonly pathOf: (arg: unknown) => string | null
}

export type OnStep = (step: Step, when: 'before' | 'after', call: StepCall) => void

const WRITES = new Set(
  'writeSync writevSync writeFileSync appendFileSync fsyncSync fdatasyncSync renameSync unlinkSync rmSync rmdirSync mkdirSync ftruncateSync truncateSync linkSync symlinkSync chmodSync fchmodSync chownSync fchownSync copyFileSync utimesSync'.split(
    ' ',
  ),
)
const READS =
  'openSync closeSync readSync readvSync fstatSync lstatSync statSync readdirSync readFileSync readlinkSync realpathSync existsSync opendirSync'.split(
    ' ',
  )
/** Done beside everything else; the last argument is told when they are through. */
const BESIDE = ['fsync', 'fdatasync', 'close']
const SQL = ['run', 'get', 'all'] as const

type Method = (...args: readonly unknown[]) => unknown

/**
 * Calls `onStep` around each step below one of the folders, until the function that it gives is called. What is thrown
 * before a step takes its place. The code under test is not changed for it: the functions of Node itself are replaced.
 */
export function watchSteps(folders: readonly string[], onStep: OnStep): () => void {
  const opened = new Map<number, string>()
  const undo: (() => void)[] = []
  const targetOf = (first: unknown): string | null => {
    if (typeof first === 'number') return opened.get(first) ?? null
    const path = Buffer.isBuffer(first) ? first.toString('latin1') : typeof first === 'string' ? first : ''
    // Folders that are held open are gone through by this name.
    const held = /^\/proc\/self\/fd\/([0-9]+)(.*)$/s.exec(path)
    if (held !== null) {
      const folder = opened.get(Number(held[1]))
      return folder === undefined ? null : folder + held[2]
    }
    return folders.some((folder) => path === folder || path.startsWith(`${folder}/`)) ? path : null
  }
  const replace = (owner: object, name: string, make: (original: Method) => Method) => {
    const original: unknown = Reflect.get(owner, name)
    if (typeof original !== 'function') return
    Reflect.set(
      owner,
      name,
      make((...args) => Reflect.apply(original, owner, args)),
    )
    undo.push(() => Reflect.set(owner, name, original))
  }
  for (const call of [...WRITES, ...READS]) {
    replace(fs, call, (original) => (...args) => {
      // Of a link the first argument is only its text.
      const target = targetOf(call === 'symlinkSync' ? args[1] : args[0])
      if (target === null) return original(...args)
      const isWrite = WRITES.has(call) || (call === 'openSync' && isForWriting(args[1]))
      const how = { args, pathOf: targetOf }
      onStep({ call, target, isWrite }, 'before', how)
      const result = original(...args)
      if (call === 'openSync' && typeof result === 'number') opened.set(result, target)
      if (call === 'closeSync' && typeof args[0] === 'number') opened.delete(args[0])
      onStep({ call, target, isWrite }, 'after', how)
      return result
    })
  }
  for (const call of BESIDE) {
    replace(fs, call, (original) => (...args) => {
      const [fd, done] = [args[0], args.at(-1)]
      const target = targetOf(fd)
      if (target === null || typeof fd !== 'number' || typeof done !== 'function') return original(...args)
      const step = { call, target, isWrite: call !== 'close' }
      const how = { args, pathOf: targetOf }
      try {
        onStep(step, 'before', how)
      } catch (error) {
        setImmediate(() => done(error))
        return
      }
      return original(fd, (error: unknown) => {
        if (call === 'close') opened.delete(fd)
        onStep(step, 'after', how)
        done(error)
      })
    })
  }
  undo.push(watchSql(onStep))
  syncBuiltinESMExports()
  return () => {
    for (const each of undo) each()
    syncBuiltinESMExports()
  }
}

function isForWriting(flags: unknown): boolean {
  if (typeof flags === 'string') return /[wa+]/.test(flags)
  return typeof flags === 'number' && (flags & (fs.constants.O_WRONLY | fs.constants.O_RDWR)) !== 0
}

/** The database works below `node:fs`: its steps are its statements. */
function watchSql(onStep: OnStep): () => void {
  const exec = DatabaseSync.prototype.exec
  DatabaseSync.prototype.exec = function (sql) {
    const step = { call: 'exec', target: sql, isWrite: !/^\s*PRAGMA/i.test(sql) }
    const how = { args: [this], pathOf: () => null }
    onStep(step, 'before', how)
    exec.call(this, sql)
    onStep(step, 'after', how)
  }
  const originals = SQL.map((name) => [name, StatementSync.prototype[name]] as const)
  for (const [name, original] of originals) {
    Reflect.set(StatementSync.prototype, name, function (this: StatementSync, ...args: never[]) {
      const step = { call: name, target: this.sourceSQL, isWrite: name === 'run' }
      const how = { args, pathOf: () => null }
      onStep(step, 'before', how)
      const result: unknown = Reflect.apply(original, this, args)
      onStep(step, 'after', how)
      return result
    })
  }
  return () => {
    DatabaseSync.prototype.exec = exec
    for (const [name, original] of originals) Reflect.set(StatementSync.prototype, name, original)
  }
}
