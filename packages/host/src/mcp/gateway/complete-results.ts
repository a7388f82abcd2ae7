/**
 * Results that do not say of which type they are count as complete.
 *
 * The revision of 2026 wants `resultType` in every result, and the client refuses one without. Servers that were written
 * before, or forget it, mean `complete`: nothing else has ever been left unsaid. Clients of 2025 ignore the member.
 */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';

/** The same transport; what it passes on passes through here first. */
export function completingResults<T extends Transport>(transport: T): T {
  let handler = transport.onmessage;
  Object.defineProperty(transport, 'onmessage', {
    configurable: true,
    enumerable: true,
    get: () => handler,
    set(given: Transport['onmessage']) {
      handler = given === undefined ? undefined : (message, extra) => given(completed(message), extra);
    },
  });
  return transport;
}

export function completed<Message extends JSONRPCMessage>(message: Message): Message {
  if (!('result' in message)) return message;
  const { result } = message;
  if (typeof result !== 'object' || result === null || 'resultType' in result) return message;
  return { ...message, result: { ...result, resultType: 'complete' } };
}
