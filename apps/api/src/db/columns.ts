import { customType } from 'drizzle-orm/pg-core'

export const bytea = customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => 'bytea' })

/** Sorts by bytes whatever the database's language is: keyset pages and the wire's order rely on it. */
export const byteText = customType<{ data: string; driverData: string }>({
  dataType: () => 'text collate "C"',
})
