import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { FULL_RESULT } from '../../../test/sample-result.ts';
import { checkDependencies } from '../../external/run/prepare-run.ts';
import { createRunHistory } from './find-runs.ts';

const runId = (day: number) => `2026-01-0${day}T00-00-00-000000Z-000000`;

function scene(t: TestContext) {
  const parent = mkdtempSync(join(tmpdir(), 'history-'));
  const base = join(parent, 'pack.runs');
  t.after(() => rmSync(parent, { recursive: true, force: true }));
  const put = (path: string, text = '') => {
    mkdirSync(dirname(join(base, path)), { recursive: true });
    writeFileSync(join(base, path), text);
  };
  const run = (tool: string, day: number, status: string) =>
    put(`tools/${tool}/${runId(day)}/result.json`, JSON.stringify({ ...FULL_RESULT, status }));
  return { base, parent, put, run, history: createRunHistory(base) };
}

test('a folder that is not there has no runs [S4-36]', (t) => {
  const { history } = scene(t);
  assert.deepEqual(history.runsOf('index'), []);
  assert.equal(history.readResult('index', runId(1)), 'missing');
  assert.equal(history.hasOutput(['index', 'outputs', 'a']), false);
});

test('runs of a tool come newest first with their results [S4-36]', (t) => {
  const { history, run } = scene(t);
  run('index', 1, 'success');
  run('index', 3, 'failure');
  run('index', 2, 'partial');
  run('other', 4, 'success');
  assert.deepEqual(history.runsOf('index'), [runId(3), runId(2), runId(1)]);
  assert.match(Buffer.from(history.readResult('index', runId(2)) as Uint8Array).toString(), /"partial"/);
});

test('dependencies are met by real runs and their real files [S4-36]', (t) => {
  const { history, run, put } = scene(t);
  const needs = { requires_tools: ['index'], requires_outputs: ['index/outputs/vectors.json'] };
  const output = needs.requires_outputs[0];
  assert.deepEqual(checkDependencies(needs, history), [{ tool: 'index' }, { tool: 'index', output }]);
  run('index', 1, 'success');
  assert.deepEqual(checkDependencies(needs, history), [{ tool: 'index', output }]);
  put(`tools/index/${runId(1)}/outputs/vectors.json`);
  assert.deepEqual(checkDependencies(needs, history), []);
  run('index', 2, 'partial');
  assert.deepEqual(checkDependencies(needs, history), []);
});

test('nothing behind a link is a run, a result or an output [S4-37]', (t) => {
  const { history, base, parent, run, put } = scene(t);
  run('index', 1, 'success');
  put(`tools/index/${runId(1)}/outputs/real`);
  writeFileSync(join(parent, 'secret'), 'x');
  symlinkSync(join(parent, 'secret'), join(base, `tools/index/${runId(1)}/outputs/link`));
  symlinkSync('outputs', join(base, `tools/index/${runId(1)}/folder`));
  symlinkSync(runId(1), join(base, `tools/index/${runId(2)}`));
  symlinkSync('index', join(base, 'tools/alias'));
  assert.deepEqual(history.runsOf('index'), [runId(1)]);
  assert.deepEqual(history.runsOf('alias'), []);
  assert.equal(history.readResult('index', runId(2)), 'unreadable');
  assert.equal(history.hasOutput(['index', runId(1), 'outputs', 'real']), true);
  for (const parts of [
    ['index', runId(1), 'outputs', 'link'],
    ['index', runId(1), 'folder', 'real'],
    ['index', runId(2), 'outputs', 'real'],
    ['alias', runId(1), 'outputs', 'real'],
    ['..', '..', 'secret'],
    ['index', runId(1), 'outputs'],
  ]) {
    assert.equal(history.hasOutput(parts), false, parts.join('/'));
  }
});
