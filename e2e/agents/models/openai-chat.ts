import {
  type Answer,
  type Ask,
  endWithJson,
  field,
  hasItems,
  openEvents,
  type Protocol,
} from './model-server.ts'

const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }

export const openaiChat: Protocol = {
  classify: ({ method, path, body }) => {
    if (method !== 'POST' || !/\/chat\/completions(\?|$)/.test(path)) return 'other'
    return hasItems(field(body, 'tools')) ? 'turn' : 'aside'
  },
  write: (response, ask, answer) => {
    const common = commonOf(ask, answer)
    const message = { role: 'assistant', ...messageOf(answer) }
    const finish_reason = answer.kind === 'say' ? 'stop' : 'tool_calls'
    if (field(ask.body, 'stream') !== true) {
      const choices = [{ index: 0, message, finish_reason }]
      endWithJson(response, { ...common, object: 'chat.completion', choices, usage })
      return
    }
    const send = openEvents(response)
    const chunk = { ...common, object: 'chat.completion.chunk' }
    send({ ...chunk, choices: [{ index: 0, delta: message, finish_reason: null }] })
    send({ ...chunk, choices: [{ index: 0, delta: {}, finish_reason }], usage })
    send('[DONE]')
    response.end()
  },
}

function commonOf({ body }: Ask, { id }: Answer) {
  return { id: `chatcmpl-${id}`, created: 0, model: field(body, 'model') }
}

function messageOf({ call, text, id }: Answer) {
  if (call === null) return { content: text }
  const called = { name: call.tool, arguments: JSON.stringify(call.input) }
  return { content: null, tool_calls: [{ index: 0, id: `call_${id}`, type: 'function', function: called }] }
}
