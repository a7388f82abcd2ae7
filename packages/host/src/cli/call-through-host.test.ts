import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createScratch, jsonLines, type RunOptions, runCli, type Scratch } from '../../test/run-cli.ts';
import { startServe } from '../../test/start-serve.ts';

const BY_HOST = /^call made by the running host, process \d+$/m;
const HERE = /^call made in this process$/m;

function call(scratch: Scratch, words: readonly string[], options: RunOptions = {}) {
  return runCli(['call', '--json', '--verbose', ...words, ...scratch.options], options);
}

/** What may differ between two calls of the same kind. */
function comparable(text: string): unknown {
  return JSON.parse(text, (key, value: unknown) => (VARYING.has(key) ? `<${key}>` : value));
}
const VARYING = new Set([
  ...['request_id', 'call_id', 'change_id', 'session_id', 'effect_id', 'instance', 'seq'],
  ...['at_ms', 'start_ts', 'end_ts', 'duration_ms'],
  // Keyed with the key of the state folder.
  ...['args_hash', 'key_hash'],
]);

const CALLS: readonly (readonly string[])[] = [
  ['file_read', 'path=a.txt'],
  ['file_read', '{"path":"missing"}'],
  ['file_read', 'path=../outside'],
  ['file_read', 'wrong=1'],
  ['no_such_tool', 'a=1'],
  ['file_write', 'path=b.txt', 'content=123', '--key', 'k1'],
  ['file_write', 'path=b.txt', 'content=123', '--key', 'k1'],
  ['fs_delete', 'path=b.txt'],
];

async function makeCalls(scratch: Scratch, who: RegExp) {
  const ends = [];
  for (const words of CALLS) {
    const { code, stdout, stderr } = await call(scratch, words);
    assert.match(stderr, who, words.join(' '));
    ends.push({ words, code, answer: comparable(stdout), said: stderr.replace(who, '') });
  }
  const audit = await runCli(['audit', 'list', '--json', ...scratch.options]);
  // A process that ends writes a checkpoint, and a host ends later.
  const records = jsonLines(audit.stdout).filter(({ kind }) => kind !== 'checkpoint');
  return { ends, records: records.map((record) => comparable(JSON.stringify(record))) };
}

describe('a call that a running host makes', () => {
  test('has the same answers, exit codes and records as one without a host (deep)', async () => {
    using alone = createScratch();
    using hosted = createScratch();
    for (const scratch of [alone, hosted]) scratch.write('a.txt', 'hello');
    const expected = await makeCalls(alone, HERE);
    await using host = await startServe(hosted);
    const found = await makeCalls(hosted, BY_HOST);
    assert.deepEqual(found, expected);
    assert.ok(found.records.length >= CALLS.length);
    assert.ok(host.child.pid);
  });

  test('is made only with the options and environment of the host (deep)', async () => {
    using scratch = createScratch();
    scratch.write('a.txt', 'hello');
    await using host = await startServe(scratch);
    const read = ['file_read', 'path=a.txt'];
    const registry = join(scratch.root, 'own.yaml');
    writeFileSync(registry, 'version: 1\n');
    for (const [words, options] of [
      [['--durability', 'full'], {}],
      [['--registry', registry], {}],
      [['--witness', join(scratch.root, 'witness')], {}],
      [[], { env: { SOME_TOKEN: 'x' } }],
    ] as const) {
      const { code, stderr } = await call(scratch, [...read, ...words], options);
      assert.match(stderr, HERE, words.join(' '));
      assert.equal(code, 0, stderr);
    }
    assert.match((await call(scratch, read)).stderr, BY_HOST);
    assert.match((await call(scratch, read, { env: { TERM: 'dumb' } })).stderr, BY_HOST);
    assert.ok(host.child.pid);
  });

  test('is made only with the registry of the host, and only while it runs (deep)', async () => {
    using scratch = createScratch();
    scratch.write('a.txt', 'hello');
    await using host = await startServe(scratch);
    const read = ['file_read', 'path=a.txt'];
    assert.match((await call(scratch, read)).stderr, BY_HOST);
    scratch.write('tool-runtime.yaml', 'version: 1\ntools:\n  grep:\n    enabled: false\n');
    assert.match((await call(scratch, read)).stderr, HERE);
    host.child.kill('SIGTERM');
    await host.ended();
    assert.match((await call(scratch, read)).stderr, HERE);
  });

  test('is not made for a token, whatever its scopes (deep)', async () => {
    using scratch = createScratch();
    await using host = await startServe(scratch);
    const answer = await host.fetch('/v1/command-call', { tool: 'file_read', args: { path: 'a.txt' } });
    const { details } = (await answer.json()) as { details: { reason: string } };
    assert.deepEqual([answer.status, details.reason], [403, 'not_the_owner']);
  });
});
