import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createScratch, runCli } from '../../../test/run-cli.ts';

test('tool-runtime changes lists, shows and undoes what a call changed', async () => {
  using scratch = createScratch();
  const cli = (...words: string[]) => runCli([...words, ...scratch.options]);
  await cli('call', 'file_write', 'path=a.txt', 'content=old');
  const written = await cli('call', 'file_write', 'path=a.txt', 'content=new');
  const { change_id } = JSON.parse(written.stdout) as { change_id: string };
  const listed = await cli('changes');
  assert.match(listed.stdout, new RegExp(`^2 change sets\\n${change_id} .* file_write applied: 1 path\\n {2}M a.txt`));
  const shown = await cli('changes', 'show', change_id);
  assert.match(shown.stdout, /-old[\s\S]*\+new/);
  const undone = await cli('changes', 'undo', change_id);
  assert.deepEqual([undone.code, readFileSync(join(scratch.workspace, 'a.txt'), 'utf8')], [0, 'old']);
  const again = await cli('changes', 'undo', change_id, '--json');
  assert.equal(again.code, 1);
  assert.match(again.stdout, /not_applied/);
});
