import { describeAgent } from './journeys.ts'
import { claudeCode } from './kits/claude-code.ts'

describeAgent(claudeCode)
