import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createScratch, jsonLines, runCli } from '../../../test/run-cli.ts';
import { startServe } from '../../../test/start-serve.ts';

test('shows the host of the state folder, for people and for programs (deep)', async () => {
  using scratch = createScratch();
  await using host = await startServe(scratch);
  await host.openSession();
  const people = await runCli(['status', ...scratch.options]);
  assert.equal(people.code, 0, people.stderr);
  assert.match(people.stdout, /^ready, version .*\n1 sessions, /);
  const programs = await runCli(['status', '--json', ...scratch.options]);
  const [answer] = jsonLines(programs.stdout);
  assert.deepEqual([answer?.['state'], answer?.['pid'], answer?.['sessions']], ['ready', host.child.pid, 1]);
});

test('says how to start one when there is none', async () => {
  using scratch = createScratch();
  const { code, stderr } = await runCli(['status', ...scratch.options]);
  assert.equal(code, 1);
  assert.match(stderr, /No host runs on this workspace[\s\S]*tool-runtime serve/);
});
