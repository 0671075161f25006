// Restores (or recovers) in a rig's folder and ends itself with SIGKILL at the n-th moment at which something is done.
// Prints the number of moments when it came to the end.
import type { ClientDeps } from '#deps.ts'
import { recover } from '#restore/recover.ts'
import { createTreeWriter } from '#worktree/tree-writer.ts'
import { attachRig } from './restore-rig.ts'

const [top, turn, nth, what] = process.argv.slice(2)
if (top === undefined || turn?.startsWith('t_') !== true)
  throw new Error('usage: restore-killed TOP TURN N [recover]')
const last = Number(nth)
let count = 0
const moment = (): void => {
  if (count++ === last) process.kill(process.pid, 'SIGKILL')
}

/** The same client, with a moment before and after each step that is written down, and before each that is done. */
function withMoments(deps: ClientDeps): ClientDeps {
  return {
    ...deps,
    writer: (workspace, restore) =>
      createTreeWriter({ workspace, restore, blobs: deps.blobs, random: deps.random, onMoment: moment }),
    log: new Proxy(deps.log, {
      get(log, name) {
        if (name !== 'putJournal') {
          const member: unknown = Reflect.get(log, name)
          return typeof member === 'function' ? member.bind(log) : member
        }
        return (row: Parameters<typeof log.putJournal>[0]) => {
          moment()
          log.putJournal(row)
          moment()
        }
      },
    }),
    capture: {
      ...deps.capture,
      recordRestore(lease, workspace, record) {
        moment()
        const row = deps.capture.recordRestore(lease, workspace, record)
        moment()
        return row
      },
    },
  }
}

const rig = await attachRig(top, withMoments)
if (what === 'recover') await recover(rig.deps, rig.workspace, 'finish')
else await rig.restore(turn as `t_${string}`)
process.stdout.write(String(count))
