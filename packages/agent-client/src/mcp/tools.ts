import { limits, turnKindSchema } from '@turnback/core'
import { z } from 'zod'
import { quoteForShell } from '#cli/shell-quote.ts'
import { cutList, cutPatches, cutText } from './cut.ts'
import type { Tool } from './tool.ts'

/*
 * What a model may do through the server: look, and make a moment that can be returned to. Nothing here writes into the
 * tree; taking turns back is for the person, who types it.
 */

const PROMPT_CHARACTERS = 300
const MESSAGE_CHARACTERS = 2000
const PERSON_ONLY =
  'Only the person takes turns back, by a command of their own: offer it to them, and do not run it for them.'

const turnName = z
  .string()
  .min(1)
  .describe('a turn: its number (12), its id (t_…) or letters that only its id begins with, or `last`')
const somePaths = z
  .array(z.string().min(1))
  .describe('files or folders, relative to the root of the workspace')
  .optional()

const states = z.object({ kind: z.string() })
const listed = z.object({
  turns: z.array(
    z.object({
      turn: z.string(),
      number: z.number(),
      kind: z.string(),
      session: z.string().nullable(),
      agent: z.string().nullable(),
      prompt: z.string().nullable(),
      label: z.string().nullable(),
      startedAt: z.string(),
      endedAt: z.string().nullable(),
      endReason: z.string().nullable(),
      created: z.number(),
      changed: z.number(),
      deleted: z.number(),
      undone: z.string(),
    }),
  ),
})

const listInput = z.strictObject({
  limit: z.int().min(1).max(200).default(20).describe('at most this many'),
  session: z.string().min(1).describe('only turns of this session').optional(),
  kind: turnKindSchema.describe('only turns of this kind').optional(),
  path: z
    .string()
    .min(1)
    .describe('only turns that changed this file, or something in this folder')
    .optional(),
})

export const listTurns: Tool<typeof listInput> = {
  name: 'list_turns',
  title: 'List turns',
  description:
    'Lists what agents, restores and others did to this working tree, newest first: a turn for each prompt, with counts of files.',
  input: listInput,
  isReadOnly: true,
  // One more than asked for tells whether there are more.
  argv: ({ limit, session, kind, path }) => [
    'log',
    `--limit=${limit + 1}`,
    ...(session === undefined ? [] : [`--session=${session}`]),
    ...(kind === undefined ? [] : [`--kind=${kind}`]),
    ...(path === undefined ? [] : [`--path=${path}`]),
  ],
  tell(result, { limit }) {
    const { turns } = listed.parse(result)
    const shown = turns.slice(0, limit).map(({ prompt, ...turn }) => ({
      ...turn,
      prompt: prompt === null ? null : cutText(prompt, PROMPT_CHARACTERS),
    }))
    const more = turns.length > limit ? { note: 'There are older turns: ask with a higher limit.' } : {}
    return { facts: { turns: shown, ...more } }
  },
}

const shown = z.object({
  turn: z.string(),
  number: z.number(),
  kind: z.string(),
  session: z.string().nullable(),
  agent: z.object({ name: z.string() }).nullable(),
  startedAt: z.string(),
  endedAt: z.string().nullable(),
  endReason: z.string().nullable(),
  open: z.boolean().default(false),
  prompt: z.string().nullable(),
  lastMessage: z.string().nullable(),
  entries: z.array(
    z.object({ path: z.string(), before: states, after: states, source: z.string(), sealed: z.boolean() }),
  ),
  skipped: z.array(z.object({ path: z.string(), reason: z.string() })),
})

const showInput = z.strictObject({ turn: turnName })

export const showTurn: Tool<typeof showInput> = {
  name: 'show_turn',
  title: 'Show a turn',
  description:
    'Tells what one turn was asked, how it ended, and which files it created, changed and deleted.',
  input: showInput,
  isReadOnly: true,
  argv: ({ turn }) => ['show', '--', turn],
  tell(result) {
    const { entries, skipped, agent, prompt, lastMessage, ...turn } = shown.parse(result)
    const [changes, left] = [cutList(entries), cutList(skipped)]
    return {
      facts: {
        ...turn,
        agent: agent?.name ?? null,
        prompt: prompt === null ? null : cutText(prompt, MESSAGE_CHARACTERS),
        lastMessage: lastMessage === null ? null : cutText(lastMessage, MESSAGE_CHARACTERS),
        changes: changes.items.map(({ path, before, after, source }) => ({
          path,
          what: wordOf(before.kind, after.kind),
          source,
        })),
        notCaptured: left.items,
        ...noteOf({ changes: changes.leftOut, notCaptured: left.leftOut }),
      },
    }
  },
}

function wordOf(before: string, after: string): string {
  if (before === 'absent') return 'created'
  if (after === 'absent') return 'deleted'
  return before === after ? 'changed' : `changed from ${before} to ${after}`
}

/** A word of each list that was cut. */
function noteOf(leftOut: Readonly<Record<string, number>>): { readonly note?: string } {
  const cut = Object.entries(leftOut).filter(([, count]) => count > 0)
  return cut.length === 0
    ? {}
    : {
        note: `Left out to keep this short: ${cut.map(([name, count]) => `${count} more of ${name}`).join(', ')}.`,
      }
}

const diffed = z.object({
  files: z.array(
    z.object({
      path: z.string(),
      status: z.string(),
      additions: z.number(),
      deletions: z.number(),
      binary: z.boolean(),
      sealed: z.boolean(),
      patch: z.string(),
    }),
  ),
})

const diffInput = z.strictObject({
  turn: turnName,
  to: turnName.describe('another turn: compares the tree at the ends of the two').optional(),
  paths: somePaths,
})

export const diffTurn: Tool<typeof diffInput> = {
  name: 'diff_turn',
  title: 'Show what a turn changed',
  description:
    'The change of one turn as a unified patch; or what differs between the ends of two turns. Contents of secret files are left out.',
  input: diffInput,
  isReadOnly: true,
  // A path that looks like a turn's name is none in this form.
  argv: ({ turn, to, paths = [] }) => [
    'diff',
    '--',
    turn,
    ...(to === undefined ? [] : [to]),
    ...paths.map((path) => (path.startsWith('/') ? path : `./${path}`)),
  ],
  tell(result) {
    const { files } = diffed.parse(result)
    const { text, cut, notShown } = cutPatches(files.filter(({ sealed }) => !sealed))
    const listed = cutList(files.map(({ patch: _, ...file }) => file))
    const unseen = cutList(notShown)
    const secret = files.filter(({ sealed }) => sealed).map(({ path }) => path)
    const notes = [
      ...(cut === null ? [] : [`The patch of ${cut} is cut here.`]),
      ...(notShown.length === 0
        ? []
        : [
            `Not shown to keep this short: ${unseen.items.join(', ')}${unseen.leftOut > 0 ? ` and ${unseen.leftOut} more` : ''}. Ask for them with \`paths\`.`,
          ]),
      ...(secret.length === 0
        ? []
        : [
            `Left out because they hold secrets: ${secret.join(', ')}. The person can see them with \`turnback diff\`.`,
          ]),
      ...(listed.leftOut === 0 ? [] : [`${listed.leftOut} more files changed.`]),
    ]
    const note = notes.length === 0 ? {} : { note: notes.join('\n') }
    const words = [text === '' ? 'No lines to show.' : text.trimEnd(), ...notes].join('\n\n')
    return { facts: { files: listed.items, patch: text, ...note }, text: words }
  },
}

const previewed = z.object({
  restore: z.array(z.string()),
  delete: z.array(z.string()),
  merge: z.array(z.string()),
  conflicts: z.array(z.looseObject({ path: z.string(), reason: z.string() })),
  skipped: z.array(z.object({ path: z.string(), reason: z.string() })),
  unchanged: z.number(),
  undoes: z.array(z.string()),
  alsoUndoes: z.array(z.object({ path: z.string(), turn: z.string() })),
  irreversible: z.array(z.string()),
  head: z.object({ then: z.string().nullable(), now: z.string().nullable() }),
})

const previewInput = z.strictObject({
  turn: turnName,
  scope: z
    .enum(['from-turn', 'turn', 'session', 'all-sessions'])
    .default('from-turn')
    .describe(
      'from-turn: the turn and the later ones of its session; turn: it alone; session: all of its session; all-sessions: it and every later turn',
    ),
  paths: somePaths,
  onConflict: z
    .enum(['keep', 'save', 'merge', 'fail'])
    .default('keep')
    .describe('for files that were changed since by somebody else'),
})

const SCOPE_OPTIONS = {
  'from-turn': [],
  turn: ['--only'],
  session: ['--session'],
  'all-sessions': ['--all-sessions'],
} as const satisfies Record<z.output<typeof previewInput>['scope'], readonly string[]>

export const previewRewind: Tool<typeof previewInput> = {
  name: 'preview_rewind',
  title: 'Preview a rewind',
  description: `Tells what taking a turn back would restore, delete, keep and merge. Does nothing. ${PERSON_ONLY}`,
  input: previewInput,
  isReadOnly: true,
  argv: (input) => ['preview', ...restoreWords(input)],
  tell(result, input) {
    const { conflicts, ...preview } = previewed.parse(result)
    const lists = { ...listsOf(preview), conflicts: cutList(conflicts) }
    const leftOut = Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, list.leftOut]))
    const command = ['turnback', 'restore', ...restoreWords(input)].map(quoteForShell).join(' ')
    return {
      facts: {
        ...Object.fromEntries(Object.entries(lists).map(([name, { items }]) => [name, items])),
        unchanged: preview.unchanged,
        head: preview.head,
        command,
        whoMay: PERSON_ONLY,
        ...noteOf(leftOut),
      },
    }
  },
}

function restoreWords({ turn, scope, paths = [], onConflict }: z.output<typeof previewInput>): string[] {
  return [
    ...SCOPE_OPTIONS[scope],
    ...paths.map((path) => `--path=${path}`),
    ...(onConflict === 'keep' ? [] : [`--on-conflict=${onConflict}`]),
    ...(turn.startsWith('-') ? ['--'] : []),
    turn,
  ]
}

function listsOf(preview: Omit<z.output<typeof previewed>, 'conflicts'>) {
  return {
    restore: cutList(preview.restore),
    delete: cutList(preview.delete),
    merge: cutList(preview.merge),
    skipped: cutList(preview.skipped),
    undoes: cutList(preview.undoes),
    alsoUndoes: cutList(preview.alsoUndoes),
    irreversible: cutList(preview.irreversible),
  }
}

const checkpointed = z.object({
  turn: z.string(),
  label: z.string().nullable(),
  paths: z.array(z.string()).nullable(),
})

const checkpointInput = z.strictObject({
  label: z.string().min(1).max(limits.labelCharacters).describe('a name for people').optional(),
  paths: somePaths.describe('what it is of; by default the whole tree'),
})

export const checkpoint: Tool<typeof checkpointInput> = {
  name: 'checkpoint',
  title: 'Make a checkpoint',
  description:
    'Records the working tree as it is now, as a moment that the person can return to. Changes no file. Worth it before something risky, and after something that works.',
  input: checkpointInput,
  isReadOnly: false,
  argv: ({ label, paths = [] }) => [
    'checkpoint',
    ...(label === undefined ? [] : [`--label=${label}`]),
    ...(paths.length === 0 ? [] : ['--', ...paths]),
  ],
  tell: (result) => ({ facts: checkpointed.parse(result) }),
}
