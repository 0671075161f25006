import { describeAgent } from './journeys.ts'
import { copilotCli } from './kits/copilot-cli.ts'

describeAgent(copilotCli)
