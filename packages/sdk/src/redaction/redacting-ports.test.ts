import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ToolError } from '@tool-runtime/protocol';
import type { ArtifactStore } from '../contracts/artifacts.ts';
import type { JournalRecord } from '../contracts/journal.ts';
import { createEventBus } from '../events/event-bus.ts';
import { createMemoryJournal } from '../journal/store/catalog.ts';
import { redactError } from './redact-error.ts';
import { redactingArtifacts, redactingEvents, redactingJournal } from './redacting-ports.ts';
import { createRedactor } from './redactor.ts';

const SECRET = 'abcdef012345';
const redactor = createRedactor({ secrets: [SECRET] });

test('records lose the secret in every text, and keep ids and hashes as they are', async () => {
  const journal = createMemoryJournal();
  const record: JournalRecord = {
    kind: 'requested',
    call_id: 'call',
    session_id: 'session',
    at_ms: 1,
    request_id: 'request',
    tool: 'tool',
    args_hash: `hash${SECRET}`,
    args_summary: `cmd="${SECRET}"`,
    actor: 'me',
    client: 'test',
    details: { [SECRET]: [SECRET, { deep: SECRET }], note: 'password=x1', path: `token=1 ${SECRET}` },
  };
  await redactingJournal(journal, redactor).append([record]);
  const [stored] = [...journal.read()];
  assert.deepEqual(
    { ...stored, seq: 0 },
    {
      ...record,
      seq: 0,
      args_summary: 'cmd="[redacted]"',
      details: {
        '[redacted]': ['[redacted]', { deep: '[redacted]' }],
        note: 'password=[redacted]',
        path: 'token=1 [redacted]',
      },
    },
  );
});

test('one place with a secret is enough for a copy, and a record without any is passed on as it is', () => {
  const written: JournalRecord[] = [];
  const journal = {
    ...createMemoryJournal(),
    append: (records: readonly JournalRecord[]) => void written.push(...records),
  };
  const child = { kind: 'child', at_ms: 1, session_id: 's', child_session_id: 'c', event: 'opened' } as const;
  const places = [{ [SECRET]: 1 }, { list: ['a', SECRET] }, { list: [{ deep: SECRET }] }, { text: `x ${SECRET}` }];
  for (const details of [...places, { text: 'nothing', list: ['a', { deep: null }] }]) {
    const record = { ...child, details };
    const before = JSON.stringify(record);
    void redactingJournal(journal, redactor).append([record]);
    assert.equal(JSON.stringify(record), before);
    const stored = JSON.stringify(written.at(-1));
    assert.equal(stored, before.replace(SECRET, '[redacted]'));
    assert.equal(written.at(-1) === record, !before.includes(SECRET));
  }
});

test('events lose it in message and data; who listens hears them all the same', () => {
  const bus = createEventBus();
  const heard: unknown[] = [];
  bus.listen('s', ({ message }) => heard.push(message));
  const message = { type: 'EventMessage', event: 'TaskProgress', request_id: 'r' } as const;
  redactingEvents(bus, redactor).emit('s', {
    ...message,
    progress: { pct: 1, message: `at ${SECRET}` },
    data: { chunk: `${SECRET} api_key=x1` },
  });
  assert.deepEqual(heard, [
    { ...message, progress: { pct: 1, message: 'at [redacted]' }, data: { chunk: '[redacted] api_key=[redacted]' } },
  ]);
});

test('artifacts are written without it, also where two chunks meet', () => {
  const written: Uint8Array[] = [];
  const count = { masked: 0 };
  const store = {
    create: () => ({
      handle: 'h',
      write: (chunk: Uint8Array) => void written.push(chunk),
      finish: () => ({ handle: 'h', digest: 'd', bytes: 1 }),
      discard: () => {},
    }),
  } as unknown as ArtifactStore;
  const writer = redactingArtifacts(store, redactor, count).create();
  for (const part of ['a abcdef', '012345 b', ' abc']) writer.write(Buffer.from(part));
  assert.equal(writer.finish().handle, 'h');
  assert.equal(count.masked, 1);
  assert.equal(Buffer.concat(written).toString(), 'a [redacted] b abc');
});

test('errors for the log lose it in message, details, cause and stack', () => {
  const cause = new Error(`broken by ${SECRET}`);
  const clean = redactError(new ToolError('E_INTERNAL', `x ${SECRET}`, { details: { a: SECRET }, cause }), redactor);
  const shown = JSON.stringify([clean.toEntry(), String(clean.cause), (clean.cause as Error).stack]);
  assert.ok(!shown.includes(SECRET), shown);
  const plain = new ToolError('E_INTERNAL', 'x', { cause: new Error('y') });
  assert.equal(redactError(plain, redactor), plain);
});
