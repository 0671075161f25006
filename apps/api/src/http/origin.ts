import { DomainError } from '@turnback/core'

/**
 * Refuses writes that a page of another site sends with the reader's cookie. Browsers say where a request
 * comes from and pages cannot change that; programs that are no browsers send neither header and no cookie
 * of anybody's.
 */
export function refuseOtherSites(headers: Headers, ownOrigins: readonly string[]): void {
  const site = headers.get('sec-fetch-site')
  const origin = headers.get('origin')
  const isSame =
    origin === null ? site === 'same-origin' || site === 'none' || site === null : ownOrigins.includes(origin)
  if (!isSame || site === 'cross-site' || site === 'same-site') throw new DomainError('CROSS_ORIGIN')
}

/** The addresses that are this service's own: of a loopback address both ways of writing it. */
export function ownOriginsOf(publicUrl: string): readonly string[] {
  const url = new URL(publicUrl)
  if (url.hostname !== '127.0.0.1' && url.hostname !== 'localhost') return [url.origin]
  return ['127.0.0.1', 'localhost'].map((hostname) => {
    url.hostname = hostname
    return url.origin
  })
}
