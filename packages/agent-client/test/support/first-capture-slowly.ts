import { firstCapture, registerWorkspace } from '#capture/register.ts'
import { openDeps } from '#deps.ts'
import { findPlace } from '#worktree/find-root.ts'

/**
 * Captures a folder for the first time, as the command line does, and makes durable what it read as often as it can. At
 * the end it prints how much memory that took.
 */
const [root = '', sliceMs = '0'] = process.argv.slice(2)
const deps = openDeps(process.env, { firstCapture: { sliceMs: Number(sliceMs) } })
const workspace = registerWorkspace(deps, findPlace(root, deps.home, process.env, true), null)
await firstCapture(deps, workspace, true)
deps.close()
console.log(JSON.stringify({ maxRssBytes: process.resourceUsage().maxRSS * 1024 }))
