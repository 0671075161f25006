import { type Answer, endWithJson, field, hasItems, openEvents, type Protocol } from './model-server.ts'

const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }

export const geminiGenerate: Protocol = {
  classify: ({ method, path, body }) => {
    if (method !== 'POST' || !/:(streamG|g)enerateContent(\?|$)/.test(path)) return 'other'
    return hasItems(field(body, 'tools')) ? 'turn' : 'aside'
  },
  write: (response, ask, answer) => {
    const candidate = { index: 0, content: { role: 'model', parts: [partOf(answer)] }, finishReason: 'STOP' }
    const body = { candidates: [candidate], usageMetadata }
    if (!ask.path.includes(':stream')) {
      endWithJson(response, body)
      return
    }
    openEvents(response)(body)
    response.end()
  },
}

function partOf({ call, text, id }: Answer) {
  return call === null ? { text } : { functionCall: { id: `call_${id}`, name: call.tool, args: call.input } }
}
