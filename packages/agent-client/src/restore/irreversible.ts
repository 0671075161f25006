import type { TurnId } from '@turnback/core'
import type { Deps } from '#ports.ts'

/** Commands whose effect lies outside the tree. The words that are kept hold no arguments, so no secrets. */
const OUTWARD: readonly RegExp[] = [
  /\bgit\s+push\b/,
  /\bgit\s+(?:commit|merge|rebase|reset|tag|branch\s+-[dD])\b/,
  /\bgh\s+(?:pr|issue|release|repo)\s+(?:create|merge|close|edit|delete|comment)\b/,
  /\b(?:npm|pnpm|yarn|cargo|gem|twine|poetry|uv)\s+(?:publish|upload|push)\b/,
  /\b(?:docker|podman)\s+push\b/,
  /\b(?:terraform|tofu|pulumi)\s+(?:apply|destroy|up)\b/,
  /\b(?:kubectl|helm)\s+(?:apply|create|delete|install|upgrade|rollout|scale)\b/,
  /\b(?:aws|gcloud|az|fly|vercel|heroku|wrangler)\s+\w+/,
  /\b(?:prisma\s+migrate|drizzle-kit\s+(?:push|migrate)|alembic\s+(?:upgrade|downgrade)|manage\.py\s+migrate|rails\s+db:\w+|rake\s+db:\w+|flyway\s+migrate)\b/,
  /\b(?:psql|mysql|mongosh|redis-cli)\b/,
  /\bcurl\b(?=.*\s(?:-X\s*(?:POST|PUT|PATCH|DELETE)|--data\b|-d\s|-F\s|-T\s))/,
  /\b(?:scp|sftp|rsync|ssh)\b/,
]

/** What the turns did that giving files back does not undo, as far as the agent told us of its commands. */
export function listIrreversible(deps: Deps, turns: readonly TurnId[]): string[] {
  const found = new Set<string>()
  for (const turn of turns) {
    for (const { command, type } of deps.log.listToolEvents(turn)) {
      if (command === null || type === 'tool.before') continue
      for (const pattern of OUTWARD) {
        const words = pattern.exec(command)?.[0]
        if (words !== undefined) found.add(words.replaceAll(/\s+/g, ' '))
      }
    }
  }
  return [...found].sort()
}
