import { describe, expect, test } from 'vitest'
import { findOutward } from './outward-commands.ts'
import { splitCommands } from './shell-words.ts'

describe('findOutward', () => {
  test.each<[string, string[]]>([
    ['git push origin main', ['git push']],
    ['git -C sub --no-pager push --force', ['git push']],
    ['git commit -m "says git push"', ['git commit']],
    ['cd a && npm test && git push; echo done', ['git push']],
    ['GIT_SSH_COMMAND=x sudo -E git push', ['git push']],
    ['npx prisma migrate deploy', ['prisma migrate']],
    ['pnpm exec drizzle-kit push', ['drizzle-kit push']],
    ['python manage.py migrate', ['manage.py migrate']],
    ['./bin/rails db:migrate', ['rails db:migrate']],
    ['bundle exec rake db:seed', ['rake db:seed']],
    ['alembic -c x.ini upgrade head', ['alembic upgrade']],
    ['knex migrate:latest', ['knex migrate:latest']],
    ['psql -c "drop table a"', ['psql']],
    ['curl -X POST https://u:p@x/secret', ['curl']],
    ['curl -s -d @body https://x', ['curl']],
    ['curl --json \'{"a":1}\' https://x', ['curl']],
    ['http POST x/y a=1', ['http POST']],
    ['npm install -g typescript', ['npm install -g']],
    ['npm i left-pad --global', ['npm i -g']],
    ['pip install requests', ['pip install']],
    ['sudo apt-get install -y jq', ['apt-get install']],
    ['brew install jq', ['brew install']],
    ['cargo install ripgrep', ['cargo install']],
    ['docker push x/y:1', ['docker push']],
    ['terraform apply -auto-approve', ['terraform apply']],
    ['kubectl -n a delete pod x', ['kubectl delete']],
    ['gh pr create --fill', ['gh pr create']],
    ['npm publish', ['npm publish']],
    ['bash -lc "cd x && git push"', ['git push']],
    ['echo "$(git push 2>&1)"', ['git push']],
    ['ssh host uptime', ['ssh']],
    ['systemctl --user restart app', ['systemctl restart']],
  ])('%s', (command, found) => {
    expect(findOutward(command)).toEqual(found)
  })

  test.each([
    'git status',
    'git diff && git log --grep="git push"',
    'echo "git push"',
    "grep -r 'npm publish' .",
    'npm install',
    'npm run build',
    'curl https://x/y.json',
    'curl -sSfL https://x | tar x',
    'curl -fsSL -o f -X GET https://x',
    'sed -i s/psql/mysql/ notes.md',
    'cat migrate.sql',
    'docker build .',
    'cargo build',
    'go test ./...',
    'rails server',
    'crontab -l',
    '',
  ])('finds nothing in %j', (command) => {
    expect(findOutward(command)).toEqual([])
  })

  test('never tells an argument', () => {
    const secret = 'hunter2secret'
    for (const command of [
      `git push https://user:${secret}@host/x`,
      `curl -X POST -H "Authorization: ${secret}" https://x`,
      `psql postgres://u:${secret}@h/db`,
      `PGPASSWORD=${secret} psql`,
      `mysql -p${secret}`,
      `git -c http.extraHeader=${secret} push`,
      `npm publish --otp ${secret}`,
    ]) {
      expect(findOutward(command)).toHaveLength(1)
      expect(findOutward(command).join()).not.toContain(secret)
    }
  })

  test('comes to an end soon on a line that is long and strange', () => {
    for (const part of ['git -a ', 'a=b ', '"$(', "'", '-X ', 'npm i ', 'sh -c "'])
      expect(findOutward(part.repeat(20_000)).length).toBeLessThan(2)
  })
})

test('splitCommands takes quotes off and ends a command where the shell would', () => {
  expect(splitCommands('a "b c" d\\ e; f|g\nh \'i;j\' && (k)')).toEqual([
    ['a', 'b c', 'd e'],
    ['f'],
    ['g'],
    ['h', 'i;j'],
    ['k'],
  ])
})
