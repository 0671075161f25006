import { dirname, join, relative } from 'node:path'
import { readValue } from './read-value.ts'
import type { SetupFacts } from './setup.ts'

/**
 * Whether Gemini CLI runs hooks in this folder, by its own files (seen in 0.61.0).
 * @returns null when it would ask first
 */
export function isGeminiFolderTrusted(facts: SetupFacts, home: string, folder: string): boolean | null {
  const { env } = facts
  if (env.GEMINI_RESTRICTED_MODE === 'true' || env.GEMINI_CLI_TRUST_WORKSPACE === 'false') return false
  if (env.GEMINI_CLI_TRUST_WORKSPACE === 'true') return true
  if (readValue(join(home, 'settings.json'), ['security', 'folderTrust', 'enabled']) === false) return true
  const rules = readValue(env.GEMINI_CLI_TRUSTED_FOLDERS_PATH || join(home, 'trustedFolders.json'), [])
  let found: { readonly length: number; readonly level: unknown } | null = null
  for (const [rule, level] of Object.entries(rules ?? {})) {
    const above = level === 'TRUST_PARENT' ? dirname(rule) : rule
    if (/^\.\.(?:\/|$)/.test(relative(above, folder))) continue
    if (found === null || rule.length > found.length) found = { length: rule.length, level }
  }
  if (found === null) return null
  return found.level !== 'DO_NOT_TRUST'
}
