import { findAt, type JsonPath, parseSettings, readNode } from './json-text.ts'
import { decodeSettings, readSettings } from './settings-file.ts'

/** What a file of an agent says. Undefined when it is not there, or cannot be read: it is the agent's own, and it says so itself. */
export function readValue(file: string, path: JsonPath): unknown {
  try {
    return readNode(findAt(parseSettings(decodeSettings(readSettings(file)) ?? ''), path))
  } catch {
    return undefined
  }
}
