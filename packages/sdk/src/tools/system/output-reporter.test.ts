import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { JsonObject } from '@tool-runtime/protocol';
import { OutputReporter } from './output-reporter.ts';

function reporter() {
  const told: [string, JsonObject | undefined][] = [];
  const report = new OutputReporter({ progress: (_pct, message, data) => told.push([message, data]) });
  return { told, report };
}

test('tells what was printed with its stream, colours stripped, the last line as the message', () => {
  const { told, report } = reporter();
  report.add('stdout', Buffer.from('one\n\u001b[31mtwo\u001b[0m\n'));
  report.add('stderr', Buffer.from('oh'));
  report.flush();
  assert.deepEqual(told, [
    ['two', { stream: 'stdout', chunk: 'one\ntwo\n' }],
    ['oh', { stream: 'stderr', chunk: 'oh' }],
  ]);
});

test('a line that comes at once is told although nothing follows it, and nothing is told by itself afterwards', async () => {
  const { told, report } = reporter();
  report.add('stdout', Buffer.from('listening\nnot yet'));
  assert.deepEqual(told, []);
  await setTimeout(150);
  assert.deepEqual(told, [['listening', { stream: 'stdout', chunk: 'listening\n' }]]);
  report.add('stdout', Buffer.from(' over\n'));
  report.close();
  await setTimeout(150);
  assert.equal(told.length, 1);
});

test('a word that arrives in two chunks is told in one piece, so that a secret can be found in it', () => {
  const { told, report } = reporter();
  report.add('stdout', Buffer.from('password hunter2'));
  report.add('stdout', Buffer.from('hunter2\n'));
  report.flush();
  assert.deepEqual(told, [['password hunter2hunter2', { stream: 'stdout', chunk: 'password hunter2hunter2\n' }]]);
});

test('of a text that is too long the first word that is told is whole', () => {
  const { told, report } = reporter();
  report.add('stdout', Buffer.from('hunter2hunter2 '.repeat(700)));
  report.flush();
  for (const [, data] of told) assert.match(String(data?.['chunk']), /^(?:hunter2hunter2 )+$/);
});

test('a flood costs little memory: only its newest part is told', () => {
  const { told, report } = reporter();
  for (let round = 0; round < 1000; round++) report.add('stdout', Buffer.alloc(64 * 1024, 'x\n'));
  report.flush();
  for (const [, data] of told) assert.ok(String(data?.['chunk']).length <= 8 * 1024);
});
