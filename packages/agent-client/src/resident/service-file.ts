import { join } from 'node:path'
import { DomainError } from '@turnback/core'
import type { Environment } from '#config.ts'

/** What starts the resident client at each login, in the words of the system's own service manager. */
export interface ServiceFile {
  readonly manager: 'systemd' | 'launchd'
  readonly file: string
  readonly text: string
  /** Commands that make it known and start it, and those that end it and forget it; in order. */
  readonly start: readonly (readonly string[])[]
  readonly stop: readonly (readonly string[])[]
}

export interface ServiceFacts {
  readonly platform: NodeJS.Platform
  readonly uid: number
  /** Absolute path of `bin/turnback`. */
  readonly program: string
  readonly env: Environment
  readonly user: string
  readonly logs: string
}

/** What a login shell has and a service manager need not have. Never a token: the file is plain text. */
const KEPT_VARIABLES = [
  'PATH',
  'TURNBACK_HOME',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
  'XDG_STATE_HOME',
] as const

const UNIT = 'turnback.service'
const LABEL = 'dev.turnback.client'

/** The first line says whose file it is: one without it is not overwritten and not removed. */
const MARK = 'Written by `turnback connect --service`; `turnback disconnect --service` removes it.'

/** @throws USAGE on a system whose service manager is not known, and for paths that no such file can hold */
export function describeService(facts: ServiceFacts): ServiceFile {
  const { platform, program, env } = facts
  const kept = KEPT_VARIABLES.flatMap((name) => (env[name] ? [[name, env[name]] as const] : []))
  const bad = [program, ...kept.map(([, value]) => value)].find((text) => CONTROL.test(text))
  if (bad !== undefined) throw usage(`A service file cannot hold this: ${JSON.stringify(bad)}.`)
  switch (platform) {
    case 'linux':
      return systemd(facts, kept)
    case 'darwin':
      return launchd(facts, kept)
    default:
      throw usage(`--service knows systemd and launchd, and nothing on ${platform}.`)
  }
}

const CONTROL = /[\u0000-\u001f\u007f]/

type Variables = readonly (readonly [name: string, value: string])[]

function systemd({ program, env, user }: ServiceFacts, variables: Variables): ServiceFile {
  const text = `# ${MARK}
[Unit]
Description=Turnback: history and undo for what coding agents do

[Service]
ExecStart=${quoteForUnit(program)} connect --foreground
${variables.map(([name, value]) => `Environment=${quoteForUnit(`${name}=${value}`, false)}\n`).join('')}Restart=on-failure
RestartSec=5
TimeoutStopSec=60
UMask=0077

[Install]
WantedBy=default.target
`
  const config = env.XDG_CONFIG_HOME ? env.XDG_CONFIG_HOME : join(user, '.config')
  const control = ['systemctl', '--user']
  return {
    manager: 'systemd',
    file: join(config, 'systemd/user', UNIT),
    text,
    start: [
      [...control, 'daemon-reload'],
      [...control, 'enable', '--now', UNIT],
    ],
    stop: [[...control, 'disable', '--now', UNIT]],
  }
}

/** `%` stands for values of systemd's own, and in commands `$` for variables. */
function quoteForUnit(text: string, isCommand = true): string {
  const escaped = text.replace(/["\\]/g, '\\$&').replaceAll('%', '%%')
  return `"${isCommand ? escaped.replaceAll('$', '$$$$') : escaped}"`
}

function launchd({ program, user, logs, uid }: ServiceFacts, variables: Variables): ServiceFile {
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<!-- ${MARK.replaceAll('--', '‐‐')} -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>${LABEL}</string>
  <key>ProgramArguments</key>
  <array>
    <string>${quoteForXml(program)}</string>
    <string>connect</string>
    <string>--foreground</string>
  </array>
  <key>EnvironmentVariables</key>
  <dict>
${variables.map(([name, value]) => `    <key>${name}</key><string>${quoteForXml(value)}</string>\n`).join('')}  </dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>Umask</key><integer>63</integer>
  <key>StandardErrorPath</key><string>${quoteForXml(join(logs, 'service.log'))}</string>
</dict>
</plist>
`
  const file = join(user, 'Library/LaunchAgents', `${LABEL}.plist`)
  const domain = `gui/${uid}`
  return {
    manager: 'launchd',
    file,
    text,
    start: [['launchctl', 'bootstrap', domain, file]],
    stop: [['launchctl', 'bootout', `${domain}/${LABEL}`]],
  }
}

function quoteForXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function usage(message: string): DomainError {
  return new DomainError('USAGE', {}, { message })
}
