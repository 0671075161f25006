import { type Answer, field, hasItems, openEvents, type Protocol } from './model-server.ts'

const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }

export const openaiResponses: Protocol = {
  classify: ({ method, path, body }) => {
    if (method !== 'POST' || !/\/responses(\?|$)/.test(path)) return 'other'
    return hasItems(field(body, 'tools')) ? 'turn' : 'aside'
  },
  write: (response, _ask, answer) => {
    const write = openEvents(response)
    const send = (event: { type: string; [field: string]: unknown }) => write(event, event.type)
    const id = `resp_${answer.id}`
    send({ type: 'response.created', response: { id } })
    send({ type: 'response.output_item.done', output_index: 0, item: itemOf(answer) })
    send({ type: 'response.completed', response: { id, usage } })
    response.end()
  },
}

function itemOf({ call, text, id }: Answer) {
  if (call === null)
    return { type: 'message', id: `msg_${id}`, role: 'assistant', content: [{ type: 'output_text', text }] }
  const common = { id: `item_${id}`, call_id: `call_${id}`, name: call.tool }
  return typeof call.input === 'string'
    ? { type: 'custom_tool_call', ...common, input: call.input }
    : { type: 'function_call', ...common, arguments: JSON.stringify(call.input) }
}
