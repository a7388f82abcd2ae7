import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { statEntry } from '../descriptors/directory-entry.ts';
import type { RelativePath } from '../descriptors/path-rules.ts';
import { openRoot } from '../descriptors/root.ts';
import { createGoverningFiles } from '../protection/governing-files.ts';
import { type Survey, surveyEntry } from './survey-tree.ts';

function survey(t: TestContext, folder: string): Promise<Survey> {
  const root = openRoot(dirname(folder));
  const parent = root.openParent(basename(folder) as RelativePath);
  t.after(() => {
    parent.close();
    root.close();
  });
  const stat = statEntry(parent);
  assert.ok(stat);
  const rules = { guard: createGoverningFiles(), spelling: 'folder', purpose: 'move', signal: undefined } as const;
  return surveyEntry({ dirFd: parent.dirFd, name: parent.name, stat }, rules);
}

/** Some folder of this machine that another file system is mounted in. */
function folderWithMount(): string {
  const points = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '/')
    .filter((point) => dirname(point) === '/dev' && statSync(point).dev !== statSync(dirname(point)).dev);
  return dirname(points[0] ?? assert.fail('nothing is mounted below /dev'));
}

test('a tree with another file system mounted in it is neither moved nor removed, a plain one is [S0-27 S0-29]', async (t) => {
  await assert.rejects(survey(t, folderWithMount()), {
    code: 'E_FILE_IO',
    message: /^Another file system is mounted there: folder\/./,
  });
  const plain = mkdtempSync(join(tmpdir(), 'survey-'));
  t.after(() => rmSync(plain, { recursive: true }));
  writeFileSync(join(plain, 'file'), 'xyz');
  assert.deepEqual(await survey(t, plain), { entries: 2, bytes: 3 });
});
