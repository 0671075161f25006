import { describeAgent } from './journeys.ts'
import { codex } from './kits/codex.ts'

describeAgent(codex)
