/** The four protocols between agents and models, in the part that a conversation with tools needs. */
import { type Json, list, type Wire } from './wire.ts';

const USAGE = { input_tokens: 1, output_tokens: 1 };

export const anthropicMessages: Wire = {
  paths: /\/messages(?:\?|$)/,
  read: ({ tools, messages }) => ({
    tools: list(tools).map(({ name }) => String(name)),
    shown: list(messages)
      .flatMap(({ content }) => list(content))
      .filter(({ type }) => type === 'tool_result')
      .map(({ content }) => content),
  }),
  answer({ model }, turn, call) {
    const block =
      call === undefined
        ? { type: 'text', text: '' }
        : { type: 'tool_use', id: `toolu_${turn}`, name: call.tool, input: {} };
    const delta =
      call === undefined
        ? { type: 'text_delta', text: 'done' }
        : { type: 'input_json_delta', partial_json: JSON.stringify(call.args) };
    const stop = { stop_reason: call === undefined ? 'end_turn' : 'tool_use', stop_sequence: null };
    const message = { id: `msg_${turn}`, type: 'message', role: 'assistant', model, content: [], usage: USAGE };
    return [
      { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null } },
      { type: 'content_block_start', index: 0, content_block: block },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: stop, usage: USAGE },
      { type: 'message_stop' },
    ];
  },
};

/** Tools of MCP servers come in a namespace. */
export const openaiResponses: Wire = {
  paths: /\/responses$/,
  read: ({ tools, input }) => ({
    tools: list(tools).flatMap(({ type, name, tools: inner }) =>
      type === 'namespace' ? list(inner).map((tool) => `${name}/${tool['name']}`) : [String(name ?? type)],
    ),
    shown: list(input)
      .filter(({ type }) => type === 'function_call_output')
      .map(({ output }) => output),
  }),
  answer(_body, turn, call) {
    const item = call === undefined ? SAID : functionCall(turn, call.tool, call.args);
    const response = { id: `resp_${turn}`, object: 'response', status: 'completed', output: [item] };
    const usage = { ...USAGE, total_tokens: 2 };
    return [
      { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
      { type: 'response.output_item.added', output_index: 0, item },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: { ...response, usage } },
    ];
  },
};

const SAID: Json = {
  type: 'message',
  id: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'done', annotations: [] }],
};

function functionCall(turn: number, tool: string, args: Json): Json {
  const [name, namespace] = tool.split('/').reverse();
  return {
    ...{ type: 'function_call', id: `fc_${turn}`, call_id: `call_${turn}`, status: 'completed' },
    ...(namespace === undefined ? {} : { namespace }),
    ...{ name, arguments: JSON.stringify(args) },
  };
}

export const openaiChat: Wire = {
  paths: /\/chat\/completions$/,
  read({ tools, messages }) {
    const all = list(messages);
    const at = all.flatMap(({ role }, place) => (role === 'tool' ? [place] : []));
    return {
      tools: list(tools).map((tool) => String((tool['function'] as Json)['name'])),
      // Pictures follow in a message of the user's.
      shown: at.map((place, index) => {
        const next = all.slice(place + 1, at[index + 1]).filter(({ role }) => role === 'user');
        const { content } = all[place] as Json;
        return next.length === 0 ? content : [content, ...next.map((message) => message['content'])];
      }),
    };
  },
  answer({ model }, turn, call) {
    const base = { id: `chat_${turn}`, object: 'chat.completion.chunk', created: 1, model };
    const delta =
      call === undefined
        ? { role: 'assistant', content: 'done' }
        : {
            role: 'assistant',
            tool_calls: [
              {
                ...{ index: 0, id: `call_${turn}`, type: 'function' },
                function: { name: call.tool, arguments: JSON.stringify(call.args) },
              },
            ],
          };
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    return [
      { ...base, choices: [{ index: 0, delta, finish_reason: null }] },
      { ...base, choices: [{ index: 0, delta: {}, finish_reason: call === undefined ? 'stop' : 'tool_calls' }], usage },
      '[DONE]',
    ];
  },
};

export const geminiContent: Wire = {
  paths: /[gG]enerateContent(?:\?|$)/,
  read({ tools, contents }) {
    const parts = list(contents).flatMap((content) => list(content['parts']));
    const at = parts.flatMap(({ functionResponse }, place) => (functionResponse === undefined ? [] : [place]));
    return {
      tools: list(tools).flatMap((tool) => list(tool['functionDeclarations']).map(({ name }) => String(name))),
      // Pictures follow the response they belong to.
      shown: at.map((place, index) => parts.slice(place, at[index + 1])),
    };
  },
  answer(_body, _turn, call) {
    const part = call === undefined ? { text: 'done' } : { functionCall: { name: call.tool, args: call.args } };
    const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
    return [
      { candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }], usageMetadata },
    ];
  },
};
