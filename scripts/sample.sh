#!/bin/sh
# The sample project and the sample turn: a small page on which an agent does too much. The demo plays it, the browser
# tests and the comparison with git's ways of undoing check it. Everything is done by plain shell commands, because that
# is how agents change files when no edit tool is watching.
#
# usage: sh sample.sh setup DIR   make the project: one commit, then two things the user did after it
#        sh sample.sh turn DIR    what the agent does
set -eu

say_usage() {
  sed -n 's/^# usage: /usage: /p; s/^#        sh/       sh/p' "$0" >&2
  exit 2
}

[ $# -eq 2 ] || say_usage
mkdir -p "$2"
cd "$2"

# The user's own git settings (hooks, signing, line ends) have no say in a sample.
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME='Sample User' GIT_AUTHOR_EMAIL=user@example.invalid
export GIT_COMMITTER_NAME="$GIT_AUTHOR_NAME" GIT_COMMITTER_EMAIL="$GIT_AUTHOR_EMAIL"
umask 022

make_project() {
  git init -q -b main .
  printf '%s\n' node_modules/ .env >.gitignore
  cat >index.html <<'END'
<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>Harbour</title>
    <link rel="stylesheet" href="styles.css">
  </head>
  <body>
    <h1>Ships in harbour</h1>
    <ul id="ships"></ul>
    <script src="app.js"></script>
  </body>
</html>
END
  { # 212 lines: two of head, then 42 rules of five
    printf '/* Harbour: one rule for each berth. */\n\n'
    n=1
    while [ "$n" -le 42 ]; do
      printf '.berth-%s {\n  order: %s;\n  padding: %spx;\n  color: #2d4a5e;\n}\n' "$n" "$n" $((n % 7 + 4))
      n=$((n + 1))
    done
  } >styles.css
  cat >app.js <<'END'
const list = document.querySelector('#ships')

async function show() {
  const answer = await fetch('/api/ships')
  for (const ship of await answer.json()) {
    const line = document.createElement('li')
    line.textContent = `${ship.name} lies at berth ${ship.berth}`
    line.className = `berth-${ship.berth}`
    list.append(line)
  }
}

show()
END
  cat >.env <<'END'
DATABASE_URL=postgres://harbour:mast-and-anchor-7741@db.harbour.example:5432/ships
SESSION_SECRET=sample-only-5f1c0a93e77b
END
  chmod 600 .env
  git add -A
  git commit -qm 'Harbour page'

  # What only the user has: an edit that is not committed, and a file that git does not know.
  sed -i.before 's|<title>Harbour</title>|<title>Harbour of Aldersund</title>|' index.html
  rm index.html.before
  printf '%s\n' '# To ask the harbour master' '' '- which berths are free in winter?' >notes.md
}

play_turn() {
  set -x
  head -n 41 styles.css >styles.css.new && cat styles.css.new >styles.css && rm styles.css.new
  printf '%s\n' ':root { color-scheme: dark }' 'body { background: #10202b; color: #e8f1f5 }' >theme.css
  sed -i.before 's|    <link rel="stylesheet" href="styles.css">|&\
    <link rel="stylesheet" href="theme.css">|' index.html && rm index.html.before
  cat >app.js <<'END'
import { createApp } from './framework.js'

createApp('#ships', { source: '/api/v2/ships', theme: 'dark' })
END
  sed -i.before 's|@db.harbour.example:5432|@localhost:5432|' .env && rm .env.before
}

case $1 in
  setup) make_project ;;
  turn) play_turn ;;
  *) say_usage ;;
esac
