import { describeAgent } from './journeys.ts'
import { geminiCli } from './kits/gemini-cli.ts'

describeAgent(geminiCli)
