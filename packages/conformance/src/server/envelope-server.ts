/** Speaks envelopes as JSON lines with a program on standard streams; its first line is the SessionAck. */
import type { CancelRequest, SessionAck, ToolRequest } from '@tool-runtime/protocol';
import { LineProcess, type Message } from './line-process.ts';
import { ANSWER_MS, type Call, type Request, type StartServer } from './server.ts';

const now = (): number => Math.floor(Date.now() / 1000);

export const startEnvelopeServer: StartServer = async (settings, { idempotency }) => {
  const waiting = new Map<string, (message: Message) => void>();
  const acknowledged = Promise.withResolvers<Message>();
  const process = new LineProcess(settings, (message) => {
    const { type, request_id } = message;
    if (type === 'SessionAck') acknowledged.resolve(message);
    if (type !== 'ToolResponse' && type !== 'ErrorMessage') return;
    waiting.get(String(request_id))?.(message);
    waiting.delete(String(request_id));
  });
  const session_id = await sessionOf();
  let count = 0;
  return { process, tools: [], start };

  async function sessionOf(): Promise<string> {
    try {
      const ack = (await process.within(acknowledged.promise, ANSWER_MS)) as Partial<SessionAck>;
      return String(ack.session_id);
    } catch (cause) {
      await process.kill();
      throw cause;
    }
  }

  function start({ tool, args, key }: Request): Call {
    count += 1;
    const request_id = `call-${count}`;
    const answer = new Promise<Message>((resolve) => waiting.set(request_id, resolve));
    const place = idempotency?.in === 'arguments' ? 'arguments' : 'envelope';
    const keyed = key === undefined || idempotency === undefined ? {} : { [idempotency.field]: key };
    const request: ToolRequest = {
      type: 'ToolRequest',
      tool,
      args: place === 'arguments' ? { ...args, ...keyed } : args,
      request_id,
      session_id,
      timestamp: now(),
      ...(place === 'envelope' ? keyed : {}),
    };
    process.send(request);
    return {
      reply: process
        .within(answer, ANSWER_MS)
        .then((message) => ({ ok: message['type'] === 'ToolResponse' && message['ok'] === true, message })),
      cancel: () => {
        const cancel: CancelRequest = { type: 'CancelRequest', request_id, session_id, timestamp: now() };
        process.send(cancel);
      },
    };
  }
};
