import type { PlainRegister } from './plain.ts'

/** What agents wait for: understood without commander. */
export const PLAIN_COMMANDS: Readonly<Record<string, () => Promise<{ readonly register: PlainRegister }>>> = {
  begin: () => import('./begin.ts'),
  event: () => import('./event.ts'),
  end: () => import('./end.ts'),
  hook: () => import('./hook.ts'),
}
