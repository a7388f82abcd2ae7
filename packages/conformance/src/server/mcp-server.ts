/** Speaks MCP (2025-06-18) with a server on standard streams; the little that the suite needs of it. */

import { LineProcess, type Message } from './line-process.ts';
import { ANSWER_MS, type Call, type Request, type StartServer } from './server.ts';

const PROTOCOL_VERSION = '2025-06-18';

export const startMcpServer: StartServer = async (settings, { idempotency }) => {
  const waiting = new Map<number, (message: Message) => void>();
  const process = new LineProcess(settings, (message) => {
    if (typeof message['method'] === 'string') return answerServer(message);
    const id = message['id'];
    if (typeof id !== 'number') return undefined;
    waiting.get(id)?.(message);
    return void waiting.delete(id);
  });
  /** A server may ask for roots or send a ping. */
  function answerServer({ id, method }: Message): void {
    if (id === undefined) return;
    const answer =
      method === 'ping'
        ? { result: {} }
        : method === 'roots/list'
          ? { result: { roots: [{ uri: `file://${settings.cwd}`, name: 'workspace' }] } }
          : { error: { code: -32601, message: 'Not supported by this client' } };
    process.send({ jsonrpc: '2.0', id, ...answer });
  }
  let count = 0;
  const ask = (method: string, params: object): { id: number; answer: Promise<Message> } => {
    count += 1;
    const id = count;
    const answer = new Promise<Message>((resolve) => waiting.set(id, resolve));
    process.send({ jsonrpc: '2.0', id, method, params });
    return { id, answer: process.within(answer, ANSWER_MS) };
  };
  try {
    await ask('initialize', {
      protocolVersion: PROTOCOL_VERSION,
      capabilities: {},
      clientInfo: { name: 'conformance', version: '1' },
    }).answer;
    process.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    const tools = namesOf(await ask('tools/list', {}).answer);
    return { process, tools, start };
  } catch (cause) {
    await process.kill();
    throw cause;
  }

  function start({ tool, args, key }: Request): Call {
    const keyed = key === undefined || idempotency === undefined ? {} : { [idempotency.field]: key };
    const place = idempotency?.in === 'arguments' ? 'arguments' : '_meta';
    const { id, answer } = ask('tools/call', {
      name: tool,
      arguments: place === 'arguments' ? { ...args, ...keyed } : args,
      ...(key !== undefined && place === '_meta' ? { _meta: keyed } : {}),
    });
    return {
      reply: answer.then((message) => ({ ok: isSuccess(message), message })),
      cancel: () => process.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } }),
    };
  }
};

function namesOf({ result }: Message): string[] {
  const { tools = [] } = (result ?? {}) as { readonly tools?: readonly { readonly name: string }[] };
  return tools.map(({ name }) => name);
}

function isSuccess({ error, result }: Message): boolean {
  return error === undefined && (result as { readonly isError?: boolean } | undefined)?.isError !== true;
}
