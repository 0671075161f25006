import type { RestoreDetail, RestoreReport, TurnId, WorkspaceId } from '@turnback/core'
import type { RestoreRow } from '#ports.ts'
import type { Database } from './database.ts'
import { id, json, text } from './rows.ts'

/** Length of the JSON of which the values are kept. */
const KEPT_LENGTH = 8 * 1024 * 1024

interface Kept {
  readonly detail: RestoreDetail
  readonly length: number
}

/** What restores did is read for every plan and never changes, so what was read last is kept. */
export class RestoreRows {
  readonly #db: Database
  readonly #kept = new Map<TurnId, Kept>()
  #length = 0

  constructor(db: Database) {
    this.#db = db
  }

  /** All of them as they are now: `gc` removes rows without waiting for who only looks. */
  list(workspace: WorkspaceId): RestoreRow[] {
    return this.#db.snapshot(() =>
      this.#db
        .all('SELECT turn FROM restores WHERE workspace = ? ORDER BY scan', workspace)
        .map((row) => this.#toRow(id(row, 'turn', 't'))),
    )
  }

  #toRow(turn: TurnId): RestoreRow {
    const detail = this.#kept.get(turn)?.detail ?? this.#read(turn)
    const db = this.#db
    return {
      turn,
      detail,
      get report() {
        return json<RestoreReport>(db.get('SELECT report FROM restores WHERE turn = ?', turn) ?? {}, 'report')
      },
    }
  }

  #read(turn: TurnId): RestoreDetail {
    const row = this.#db.get('SELECT detail FROM restores WHERE turn = ?', turn) ?? {}
    const { length } = text(row, 'detail')
    const detail = json<RestoreDetail>(row, 'detail')
    for (const [oldest, kept] of this.#kept) {
      if (this.#length + length <= KEPT_LENGTH) break
      this.#kept.delete(oldest)
      this.#length -= kept.length
    }
    this.#kept.set(turn, { detail, length })
    this.#length += length
    return detail
  }
}
