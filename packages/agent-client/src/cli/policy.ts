import { DomainError } from '@turnback/core'
import { changePolicy, loadPolicy, type Policy } from '#sync/policy.ts'
import type { Register } from './context.ts'

export const register: Register = (program, context) => {
  program
    .command('policy')
    .argument('<show|set>')
    .argument('[key]', 'remote, others or ci')
    .argument('[value]', 'for remote: off, ask or owner')
    .description('what this machine lets others ask of it')
    .action((what: string, key: string | undefined, value: string | undefined) => {
      const policy = act(what, key, value)
      context.print(policy, () =>
        Object.entries(policy)
          .map(([name, is]) => `${name}: ${is}`)
          .join('\n'),
      )
    })

  function act(what: string, key: string | undefined, value: string | undefined): Policy {
    const { home } = context.deps
    if (what === 'show' && key === undefined) return loadPolicy(home)
    if (what === 'set' && key !== undefined && value !== undefined) return changePolicy(home, key, value)
    throw new DomainError('USAGE', {}, { message: 'Say `policy show` or `policy set remote off|ask|owner`.' })
  }
}
