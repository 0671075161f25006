import type { ServerResponse } from 'node:http'
import {
  type Answer,
  type Ask,
  endWithJson,
  field,
  hasItems,
  openEvents,
  type Protocol,
} from './model-server.ts'

const usage = { input_tokens: 1, output_tokens: 1 }

export const anthropicMessages: Protocol = {
  classify: ({ method, path, body }) => {
    if (method !== 'POST' || !/^\/v1\/messages(\?|$)/.test(path)) return 'other'
    return hasItems(field(body, 'tools')) ? 'turn' : 'aside'
  },
  write: (response, ask, answer) => {
    if (field(ask.body, 'stream') === true) writeEvents(response, ask, answer)
    else
      endWithJson(response, {
        ...messageOf(ask, answer),
        content: [contentOf(answer)],
        ...endOf(answer),
        usage,
      })
  },
}

function writeEvents(response: ServerResponse, ask: Ask, answer: Answer): void {
  const write = openEvents(response)
  const send = (event: { type: string; [field: string]: unknown }) => write(event, event.type)
  send({ type: 'message_start', message: { ...messageOf(ask, answer), content: [], usage } })
  const whole = contentOf(answer)
  const start = whole.type === 'text' ? { type: 'text', text: '' } : { ...whole, input: {} }
  send({ type: 'content_block_start', index: 0, content_block: start })
  const delta =
    whole.type === 'text'
      ? { type: 'text_delta', text: whole.text }
      : { type: 'input_json_delta', partial_json: JSON.stringify(whole.input) }
  send({ type: 'content_block_delta', index: 0, delta })
  send({ type: 'content_block_stop', index: 0 })
  send({ type: 'message_delta', delta: endOf(answer), usage })
  send({ type: 'message_stop' })
  response.end()
}

function messageOf({ body }: Ask, { id }: Answer) {
  return { id: `msg_${id}`, type: 'message', role: 'assistant', model: field(body, 'model') }
}

function contentOf({ call, text, id }: Answer) {
  return call === null
    ? ({ type: 'text', text } as const)
    : ({ type: 'tool_use', id: `toolu_${id}`, name: call.tool, input: call.input } as const)
}

function endOf({ kind }: Answer) {
  return { stop_reason: kind === 'say' ? 'end_turn' : 'tool_use', stop_sequence: null }
}
