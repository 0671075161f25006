import { describeAgent } from './journeys.ts'
import { opencode } from './kits/opencode.ts'

describeAgent(opencode)
