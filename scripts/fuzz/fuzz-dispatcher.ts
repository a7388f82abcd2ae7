/** Feeds random lines to a real session and checks that each gets exactly one coded answer. */
import assert from 'node:assert/strict';
import { Connection, reachOnly, serveSession } from '@tool-runtime/host';
import { ERROR_CODES, type ServerMessage } from '@tool-runtime/protocol';
import { openScratchRuntime } from '@tool-runtime/sdk/testing';
import { createRandom, randomLine } from './random-lines.ts';

export interface FuzzReport {
  readonly lines: number;
  readonly answers: number;
  readonly byCode: Readonly<Record<string, number>>;
  readonly verified: boolean;
}

const BATCH = 500;

export async function fuzzDispatcher(options: { readonly lines: number; readonly seed: number }): Promise<FuzzReport> {
  const unexpected: unknown[] = [];
  const scratch = await openScratchRuntime({ onUnexpected: (error) => unexpected.push(error.cause) });
  const byCode: Record<string, number> = {};
  let answers = 0;
  const send = (text: string): void => {
    answers += 1;
    const code = codeOf(JSON.parse(text) as ServerMessage, unexpected);
    byCode[code] = (byCode[code] ?? 0) + 1;
  };
  const served = serveSession(scratch.session, { keptEvents: 0, nextEventId: () => 0, now: Date.now });
  const dispatcher = new Connection(reachOnly(served), {
    send,
    events: 'progress',
    maxBytes: 1 << 20,
    serverVersion: '0',
  });
  const random = createRandom(options.seed);
  let silent = 0;
  for (let index = 0; index < options.lines; index++) {
    const line = randomLine(random, scratch.session.id, index);
    // A cancel of a call that is not running has nothing to answer.
    if (line.includes('"CancelRequest"')) silent += 1;
    dispatcher.receive(line);
    if (index % BATCH === 0) await dispatcher.drain();
  }
  await dispatcher.drain();
  assert.ok(
    answers <= options.lines && answers >= options.lines - silent,
    `${answers} answers to ${options.lines} lines`,
  );
  const alive = await scratch.session.call('file_write', { path: 'alive', content: 'yes' });
  assert.equal(alive.ok, true, 'the session survived');
  const verified = scratch.runtime.verify().ok;
  await scratch.dispose();
  return { lines: options.lines, answers, byCode, verified };
}

function codeOf(message: ServerMessage, unexpected: readonly unknown[]): string {
  if (message.type === 'Heartbeat') return 'Heartbeat';
  if (message.type === 'ErrorMessage') return known(message.code, unexpected);
  assert.equal(message.type, 'ToolResponse');
  if (message.type !== 'ToolResponse') return '';
  assert.equal(message.ok, message.errors.length === 0);
  return message.ok ? 'ok' : known(message.errors[0]?.code ?? '', unexpected);
}

function known(code: string, unexpected: readonly unknown[]): string {
  assert.ok((ERROR_CODES as readonly string[]).includes(code), `unknown code ${code}`);
  assert.notEqual(code, 'E_INTERNAL', `no input may make the runtime fail: ${String(unexpected.at(-1))}`);
  return code;
}
