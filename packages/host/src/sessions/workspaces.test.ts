import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { createRuntime } from '@tool-runtime/sdk';
import { openWorkspaces, type Workspaces } from './workspaces.ts';

function scratch() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'workspaces-')));
  const folders = ['a/work', 'b/work'].map((name) => join(folder, name));
  for (const path of folders) mkdirSync(path, { recursive: true });
  return {
    folders,
    state: join(folder, 'state'),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function found(workspaces: Workspaces, asked: string | undefined): string {
  try {
    return workspaces.find(asked).path;
  } catch (thrown) {
    return String(isToolError(thrown) ? thrown.details['reason'] : thrown);
  }
}

test('workspaces of one name have names and state folders of their own', async () => {
  using place = scratch();
  const { folders, state } = place;
  const workspaces = await openWorkspaces({ folders, state, createRuntime });
  try {
    assert.deepEqual(
      workspaces.all.map(({ name, path }) => [name, path]),
      [
        ['work', folders[0]],
        ['work-2', folders[1]],
      ],
    );
    assert.deepEqual(readdirSync(state).sort(), ['work', 'work-2']);
    assert.equal(found(workspaces, 'work-2'), folders[1]);
    assert.equal(found(workspaces, folders[0]), folders[0]);
    assert.equal(found(workspaces, undefined), folders[0]);
    for (const other of [state, 'work-3', `${folders[0]}/.`])
      assert.equal(found(workspaces, other), 'workspace_not_allowed');
  } finally {
    await workspaces.close();
  }
});
