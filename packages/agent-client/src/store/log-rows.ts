import type {
  Change,
  EndReason,
  RelPath,
  RestoreReport,
  Source,
  State,
  TurnId,
  TurnKind,
} from '@turnback/core'
import type {
  AgentProcess,
  OutboxItem,
  OutsidePath,
  PlanRow,
  ReportItem,
  ToolEvent,
  TurnRow,
  Workspace,
} from '#ports.ts'
import { id, idOrNull, integer, integerOrNull, json, jsonOrNull, type Row, text, textOrNull } from './rows.ts'

/** Words from closed lists are checked by the writer; a store that holds others was not written by us. */
const word = <T extends string>(row: Row, column: string) => text(row, column) as T

export function toWorkspace(row: Row): Workspace {
  return {
    id: id(row, 'id', 'w'),
    root: text(row, 'root'),
    device: text(row, 'device'),
    inode: text(row, 'inode'),
    name: text(row, 'name'),
    project: textOrNull(row, 'project'),
    createdAt: text(row, 'created_at'),
  }
}

export function toTurnRow(row: Row): TurnRow {
  return {
    turn: id(row, 'id', 't'),
    workspace: id(row, 'workspace', 'w'),
    number: integer(row, 'number'),
    kind: word<TurnKind>(row, 'kind'),
    session: textOrNull(row, 'session'),
    key: textOrNull(row, 'key'),
    agent: textOrNull(row, 'agent_name'),
    prompt: textOrNull(row, 'prompt'),
    label: textOrNull(row, 'label'),
    task: textOrNull(row, 'task'),
    startedAt: text(row, 'started_at'),
    endedAt: textOrNull(row, 'ended_at'),
    endReason: row.end_reason === null ? null : word<EndReason>(row, 'end_reason'),
    isOpen: row.is_open === 1,
    pinned: row.pinned === 1,
    beginScan: integer(row, 'begin_scan'),
    endScan: integerOrNull(row, 'end_scan'),
    headBefore: textOrNull(row, 'head_before'),
    headAfter: textOrNull(row, 'head_after'),
    branch: textOrNull(row, 'branch'),
    paths: jsonOrNull<RelPath[]>(row, 'paths'),
    lastEventMs: integerOrNull(row, 'last_event_ms'),
    toolsInFlight: integer(row, 'tools_in_flight'),
    agentProcess: toAgentProcess(row),
    boot: textOrNull(row, 'boot'),
    isUnseen: row.unseen === 1,
    transcript: textOrNull(row, 'transcript'),
    interruptedMs: integerOrNull(row, 'interrupted_ms'),
    entries: integer(row, 'entries'),
    created: integer(row, 'created'),
    changed: integer(row, 'changed'),
    deleted: integer(row, 'deleted'),
    skipped: integer(row, 'skipped'),
  }
}

function toAgentProcess(row: Row): AgentProcess | null {
  const pid = integerOrNull(row, 'agent_pid')
  const started = textOrNull(row, 'agent_started')
  if (pid === null || started === null) return null
  return { pid, started, boot: textOrNull(row, 'boot') ?? '', space: text(row, 'agent_space') }
}

export function toToolEvent(row: Row): ToolEvent {
  return {
    turn: id(row, 'turn', 't'),
    atMs: integer(row, 'at_ms'),
    type: word<ToolEvent['type']>(row, 'type'),
    tool: textOrNull(row, 'tool'),
    command: textOrNull(row, 'command'),
    paths: json<RelPath[]>(row, 'paths'),
    outside: jsonOrNull<OutsidePath[]>(row, 'outside') ?? [],
    nextScan: integer(row, 'next_scan'),
  }
}

/** @param row of `changes`, with `kind` and `session` of its turn */
export function toChange(row: Row): Change {
  const source = word<Source>(row, 'source')
  const isShared = source === 'shared'
  return {
    path: text(row, 'path'),
    scan: integer(row, 'scan'),
    turn: id(row, 'turn', 't'),
    kind: word<TurnKind>(row, 'kind'),
    // A shared change belongs to no session: nobody knows whose it is.
    session: isShared ? null : textOrNull(row, 'session'),
    source,
    sharedBy: jsonOrNull<TurnId[]>(row, 'shared_by') ?? [],
    before: json<State>(row, 'before'),
    after: json<State>(row, 'after'),
  }
}

export function toOutboxItem(row: Row): OutboxItem {
  return {
    workspace: id(row, 'workspace', 'w'),
    turn: id(row, 'turn', 't'),
    kind: word<TurnKind>(row, 'kind'),
    seq: integer(row, 'seq'),
    prev: textOrNull(row, 'prev'),
    sha256: text(row, 'sha256'),
    pushedAt: textOrNull(row, 'pushed_at'),
    parked: textOrNull(row, 'parked'),
  }
}

export function toReportItem(row: Row): ReportItem {
  return {
    restore: id(row, 'restore', 'r'),
    workspace: id(row, 'workspace', 'w'),
    turn: idOrNull(row, 'turn', 't'),
    report: json<RestoreReport>(row, 'report'),
    pushedAt: textOrNull(row, 'pushed_at'),
  }
}

export function toPlan(row: Row): PlanRow {
  return {
    token: text(row, 'token'),
    workspace: id(row, 'workspace', 'w'),
    restore: idOrNull(row, 'restore', 'r'),
    request: text(row, 'request'),
    plan: text(row, 'plan'),
    createdMs: integer(row, 'created_ms'),
    usedMs: integerOrNull(row, 'used_ms'),
  }
}
