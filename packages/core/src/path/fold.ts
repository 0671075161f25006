/**
 * What a disk that ignores letter case, or how letters are composed, takes for one name: two paths with the same key
 * are one place there. Wider than any one disk (it joins `ß` and `ss`), so it may only be used to be careful.
 */
export function foldKey(path: string): string {
  return path.normalize('NFKD').toLowerCase().toUpperCase().normalize('NFKD')
}
