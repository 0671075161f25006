import { nameOf, type RelPath } from '#path/rel-path.ts'
import type { State } from '#tree/state.ts'

/** Folders whose files run, or say what runs: hooks, CI, settings of agents and editors. */
const FOLDERS = new Set([
  '.husky',
  '.githooks',
  '.hooks',
  '.lefthook',
  '.circleci',
  '.buildkite',
  '.woodpecker',
  '.teamcity',
  '.tekton',
  '.claude',
  '.codex',
  '.opencode',
  '.gemini',
  '.cursor',
  '.copilot',
  '.windsurf',
  '.continue',
  '.aider',
  '.kiro',
  '.amp',
  '.vscode',
  '.idea',
  '.zed',
  '.fleet',
  '.nvim',
  '.devcontainer',
  '.cargo',
  '.mvn',
  '.yarn',
])

/** Folder pairs, since `.github` and `.gitlab` hold harmless things too. */
const FOLDER_PAIRS = new Set([
  '.github/workflows',
  '.github/actions',
  '.github/hooks',
  '.github/instructions',
  '.github/prompts',
  '.github/agents',
  '.gitlab/ci',
  '.gitea/workflows',
  '.forgejo/workflows',
  'gradle/wrapper',
])

const NAMES = new Set([
  // hooks and CI
  '.pre-commit-config.yaml',
  '.pre-commit-config.yml',
  'lefthook.yml',
  'lefthook.yaml',
  '.gitlab-ci.yml',
  '.gitlab-ci.yaml',
  '.travis.yml',
  '.drone.yml',
  '.appveyor.yml',
  'appveyor.yml',
  'azure-pipelines.yml',
  'bitbucket-pipelines.yml',
  'cloudbuild.yaml',
  'cloudbuild.yml',
  'jenkinsfile',
  '.gitattributes',
  '.gitmodules',
  '.lintstagedrc',
  '.lintstagedrc.json',
  // what agents and editors obey
  'agents.md',
  'claude.md',
  'claude.local.md',
  'gemini.md',
  'copilot-instructions.md',
  '.mcp.json',
  'mcp.json',
  'opencode.json',
  'opencode.jsonc',
  '.cursorrules',
  '.windsurfrules',
  '.clinerules',
  '.editorconfig',
  '.envrc',
  '.exrc',
  '.vimrc',
  '.nvimrc',
  '.dir-locals.el',
  // package manifests and what builds run
  'package.json',
  'deno.json',
  'deno.jsonc',
  'bunfig.toml',
  'pnpm-workspace.yaml',
  '.npmrc',
  '.yarnrc',
  '.yarnrc.yml',
  '.pnpmfile.cjs',
  'pyproject.toml',
  'setup.py',
  'setup.cfg',
  'pipfile',
  'environment.yml',
  'conftest.py',
  'sitecustomize.py',
  'tox.ini',
  'noxfile.py',
  'cargo.toml',
  'build.rs',
  'go.mod',
  'go.work',
  'gemfile',
  'rakefile',
  'composer.json',
  'pom.xml',
  'build.gradle',
  'build.gradle.kts',
  'settings.gradle',
  'settings.gradle.kts',
  'build.sbt',
  'mix.exs',
  'pubspec.yaml',
  'package.swift',
  'podfile',
  'flake.nix',
  'makefile',
  'gnumakefile',
  'justfile',
  '.justfile',
  'taskfile.yml',
  'taskfile.yaml',
  'cmakelists.txt',
  'dockerfile',
  'containerfile',
  'docker-compose.yml',
  'docker-compose.yaml',
  'compose.yml',
  'compose.yaml',
  'procfile',
  'vagrantfile',
  // lock files
  'package-lock.json',
  'npm-shrinkwrap.json',
  'pnpm-lock.yaml',
  'bun.lockb',
  'go.sum',
  'go.work.sum',
  'packages.lock.json',
  'package.resolved',
  'gradle.lockfile',
  'deno.lock',
])

/** Lock files, scripts and the projects of build tools, by the end of the name. */
const ENDINGS =
  /\.(lock|sh|bash|zsh|fish|ps1|psm1|bat|cmd|exe|dll|so|dylib|jar|csproj|fsproj|vbproj|sln|mk|gemspec|code-workspace)$/u
const REQUIREMENTS = /^(requirements|constraints)([-_.].*)?\.(txt|in)$/u

/**
 * True for paths that a second look is due for before they are written: what is there may run by itself later
 * (hooks, CI, agent and editor settings, manifests, lock files, scripts). Letter case does not matter.
 */
export function isSensitivePath(path: RelPath): boolean {
  const folded = path.toLowerCase()
  const name = nameOf(folded)
  if (NAMES.has(name) || ENDINGS.test(name) || REQUIREMENTS.test(name)) return true
  const folders = folded.split('/')
  return folders.some(
    (folder, i) => FOLDERS.has(folder) || FOLDER_PAIRS.has(`${folder}/${folders[i + 1] ?? ''}`),
  )
}

/** The same with the states at hand: a file that is, or becomes, executable is sensitive whatever its name. */
export function isSensitiveChange(path: RelPath, from: State, to: State): boolean {
  return isSensitivePath(path) || isExecutable(from) || isExecutable(to)
}

function isExecutable(state: State): boolean {
  return state.kind === 'file' && (state.mode & 0o111) !== 0
}
