import { fileURLToPath } from 'node:url'
import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { CLIENT_VERSION } from '#client-version.ts'
import { addTool, type Place, type RunCommand } from './tool.ts'
import { checkpoint, diffTurn, listTurns, previewRewind, showTurn } from './tools.ts'

const INSTRUCTIONS = `Turnback records what every turn of an agent does to this working tree. These tools let you look at the turns and make a checkpoint. None of them changes a file. Taking turns back is the person's own command (\`turnback undo\`, \`turnback restore\`): suggest it, never run it yourself.`

/**
 * Serves the Model Context Protocol on this process's standard streams until the client closes its end.
 * @param started the folder that the server was started in
 * @param onTrouble told of what goes wrong beside a tool's own failure
 */
export async function serveTools(
  started: string,
  run: RunCommand,
  onTrouble: (error: Error) => void,
): Promise<void> {
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  process.stdin.once('end', resolve).once('close', resolve)
  let last: Promise<unknown> = Promise.resolve()
  const place: Place = {
    findFolder: (roots) => chooseFolder(started, (roots ?? []).flatMap(toFolder)),
    // One after the other: each opens the store, and one may be what the next is about.
    run(folder, argv) {
      const mine = last.then(() => run(folder, argv))
      last = mine.catch(() => undefined)
      return mine
    },
  }
  const handle = serveStdio(() => makeServer(place), { onerror: onTrouble })
  await ended
  // What was begun is brought to its end, also when nobody hears the answer.
  await last
  await handle.close()
}

function makeServer(place: Place): McpServer {
  const server = new McpServer(
    { name: 'turnback', title: 'Turnback', version: CLIENT_VERSION },
    { instructions: INSTRUCTIONS },
  )
  addTool(server, place, listTurns)
  addTool(server, place, showTurn)
  addTool(server, place, diffTurn)
  addTool(server, place, previewRewind)
  addTool(server, place, checkpoint)
  return server
}

/** The folder that the server was started in when it is in one of the client's, else the first of those. */
function chooseFolder(started: string, roots: readonly string[]): string {
  const isInside = roots.some((root) => started === root || started.startsWith(`${root}/`))
  return isInside ? started : (roots[0] ?? started)
}

function toFolder(uri: string): string[] {
  if (!URL.canParse(uri)) return []
  const url = new URL(uri)
  if (url.protocol !== 'file:') return []
  const path = fileURLToPath(url)
  return [path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path]
}
