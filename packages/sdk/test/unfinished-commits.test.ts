import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { createRuntime } from '../src/index.ts';
import { OWN_TAG } from '../src/platform/processes/process-identity.ts';

const TEXT = 'new';
const NEW = { kind: 'file', digest: createHash('sha256').update(TEXT).digest('hex'), size: 3, mode: 0o644 };

/** A commit of a process that is dead: two files whose content lies in files of its own. */
function leaveCommit(t: TestContext) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'commits-')));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const [state, workspace] = [join(root, 'state'), join(root, 'workspace')];
  for (const folder of [state, workspace, join(state, 'commits')]) mkdirSync(folder, { mode: 0o700 });
  const dead = (OWN_TAG ?? '').replace(/^(\d+)-\d+/, '$1-1');
  const source = (name: string): string => join(root, `source-${name}`);
  const record = ['a.txt', 'b.txt'].map((path) => ({
    ...{ root: workspace, path, before: { kind: 'absent' }, after: NEW, file: source(path) },
  }));
  writeFileSync(join(state, 'commits', `${dead}_${dead}_x`), `${JSON.stringify(record)}\n`, { mode: 0o600 });
  return { state, workspace, source };
}

describe('a commit of a killed process', () => {
  test('is taken back when it cannot be finished, counted, and finished by a later start', async (t) => {
    const { state, workspace, source } = leaveCommit(t);
    writeFileSync(source('a.txt'), TEXT);
    const blocked = await createRuntime({ workspace, state });
    assert.equal(blocked.unfinishedCommits(), 1);
    assert.equal(existsSync(join(workspace, 'a.txt')), false);
    await blocked.close();
    writeFileSync(source('b.txt'), TEXT);
    const runtime = await createRuntime({ workspace, state });
    assert.equal(runtime.unfinishedCommits(), 0);
    await runtime.close();
    for (const name of ['a.txt', 'b.txt']) assert.equal(readFileSync(join(workspace, name), 'utf8'), TEXT);
  });

  test('leaves a file that others changed since as it is, and reports it', async (t) => {
    const { state, workspace, source } = leaveCommit(t);
    for (const name of ['a.txt', 'b.txt']) writeFileSync(source(name), TEXT);
    writeFileSync(join(workspace, 'b.txt'), 'by others');
    const reports: string[] = [];
    const runtime = await createRuntime({ workspace, state, onUnexpected: ({ message }) => reports.push(message) });
    assert.equal(runtime.unfinishedCommits(), 0);
    await runtime.close();
    assert.equal(readFileSync(join(workspace, 'a.txt'), 'utf8'), TEXT);
    assert.equal(readFileSync(join(workspace, 'b.txt'), 'utf8'), 'by others');
    assert.equal(reports.length, 1);
    assert.match(reports[0] ?? '', /^Commit of a killed process was finished, except for .*: b\.txt$/);
  });
});
