import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@tool-runtime/protocol';
import { OutputReporter } from './output-reporter.ts';

function reporter() {
  const told: [string, JsonObject | undefined][] = [];
  const clean = (text: string): string => text.replaceAll('hunter2hunter2', '[redacted]');
  const report = new OutputReporter({ progress: (_pct, message, data) => told.push([message, data]) }, clean);
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

test('hides a secret that arrives in two chunks [S0-13]', () => {
  const { told, report } = reporter();
  report.add('stdout', Buffer.from('password hunter2'));
  report.add('stdout', Buffer.from('hunter2\n'));
  report.flush();
  assert.doesNotMatch(JSON.stringify(told), /hunter2/);
});

test('a flood costs little memory: only its newest part is told', () => {
  const { told, report } = reporter();
  for (let round = 0; round < 1000; round++) report.add('stdout', Buffer.alloc(64 * 1024, 'x\n'));
  report.flush();
  for (const [, data] of told) assert.ok(String(data?.['chunk']).length <= 8 * 1024);
});
