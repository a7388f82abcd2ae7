/** Opens one connection and reads the host's greeting, both within a time limit. */

import type { SessionAck } from '../envelopes/from-host/session-ack.ts';
import type { ServerMessage } from '../envelopes/server-message.ts';
import { ToolError } from '../primitives/errors.ts';
import type { Connect, Connection } from './connection.ts';
import { connectionClosed, fromErrorMessage } from './error-messages.ts';
import { unlessAborted } from './unless-aborted.ts';

export interface OpenedConnection {
  readonly connection: Connection;
  /** What comes after the greeting. */
  readonly messages: AsyncIterator<ServerMessage>;
  /** Undefined on connections that have none. */
  readonly greeting: SessionAck | undefined;
}

export async function openConnection(
  connect: Connect,
  closing: AbortSignal,
  timeoutMs: number,
): Promise<OpenedConnection> {
  const tooSlow = new AbortController();
  const timer = setTimeout(() => tooSlow.abort(), timeoutMs);
  const signal = AbortSignal.any([closing, tooSlow.signal]);
  const opening = (async () => connect(signal))();
  let connection: Connection | undefined;
  try {
    connection = await unlessAborted(opening, signal, notOpened);
    const messages = connection.messages()[Symbol.asyncIterator]();
    const greeting = connection.greets === false ? undefined : await unlessAborted(greet(messages), signal, notOpened);
    return { connection, messages, greeting };
  } catch (thrown) {
    // Also one that comes too late must not stay open.
    opening.then((late) => late.close()).catch(() => undefined);
    throw thrown;
  } finally {
    clearTimeout(timer);
  }
}

async function greet(messages: AsyncIterator<ServerMessage>): Promise<SessionAck> {
  const step = await messages.next();
  if (step.done === true) throw connectionClosed();
  if (step.value.type === 'SessionAck') return step.value;
  throw step.value.type === 'ErrorMessage' ? fromErrorMessage(step.value) : noGreeting(step.value.type);
}

function notOpened(): ToolError {
  return new ToolError('E_INTERNAL', 'Connection could not be opened in time', {
    details: { reason: 'connection_closed' },
  });
}

function noGreeting(type: string): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Host did not begin with a SessionAck: ${type}`, {
    details: { reason: 'no_greeting' },
  });
}
