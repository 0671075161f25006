import type { Bus } from '#bus/bus.ts'
import type { Db } from '#db/client.ts'
import type { ObjectStore } from '#objects/object-store.ts'
import type { AppConfig } from './config.ts'

export interface Clock {
  nowMs(): number
}

/** Everything that modules reach the world through. Built by service.ts, or by a test with parts of its own. */
export interface Deps {
  readonly db: Db
  readonly objects: ObjectStore
  readonly bus: Bus
  readonly clock: Clock
  readonly config: AppConfig
}
