import { routes } from '@turnback/core/api'
import type { Deps } from '#deps.ts'
import type { Implement } from '#http/implement.ts'
import { checkReadiness } from './service.ts'

export function healthRoutes(implement: Implement, deps: Deps): void {
  implement(routes.getHealth, async () => ({ status: 'ok' as const, version: deps.config.version }))
  implement(routes.getReadiness, async () => ({
    status: 'ready' as const,
    checks: await checkReadiness(deps),
  }))
}
