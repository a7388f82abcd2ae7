/** A file elsewhere shows what no check of the state folder can: that all of it was replaced by an older copy. */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openJournalReader } from '../journal/store/journal-reader.ts';
import { createRuntime } from '../runtime.ts';
import { witnessedHeads } from '../witnessed-heads.ts';

const root = mkdtempSync(join(tmpdir(), 'tool-runtime-witness-'));
after(() => rmSync(root, { recursive: true, force: true }));
const [workspace, state, file] = [join(root, 'work'), join(root, 'state'), join(root, 'witness.log')];
mkdirSync(workspace);

async function call(content: string, witness?: { readonly file: string }): Promise<string | undefined> {
  const runtime = await createRuntime({ workspace, state, ...(witness === undefined ? {} : { witness }) });
  const session = await runtime.openSession({});
  await session.call('file_write', { path: 'a.txt', content });
  const { broken } = runtime.verify();
  await runtime.close();
  return broken?.reason;
}

test('a witness is told at the end, and notices that the whole folder was put back [S1-41]', async () => {
  assert.equal(await call('one', { file }), undefined);
  cpSync(state, `${state}-old`, { recursive: true, preserveTimestamps: true });
  assert.equal(await call('two', { file }), undefined);
  assert.equal(readFileSync(file, 'utf8').trim().split('\n').length, 2);
  const reader = openJournalReader(state);
  const { heads: witnessed } = await witnessedHeads({ workspace, state, file });
  assert.deepEqual([reader.verify(undefined, { witnessed }).ok, witnessed.at(-1)], [true, reader.head()]);
  reader.close();
  rmSync(state, { recursive: true });
  mkdirSync(state, { mode: 0o700 });
  cpSync(`${state}-old`, state, { recursive: true });
  const old = openJournalReader(state);
  assert.equal(old.verify().ok, true);
  assert.match(old.verify(undefined, { witnessed }).broken?.reason ?? '', /^witnessed head not contained: record \d+ /);
  old.close();
  assert.equal(await call('three'), undefined);
  assert.match((await call('four', { file })) ?? '', /^witnessed head not contained/);
});

test('a witness that the journal or a tool could change is refused [S1-41]', async () => {
  for (const inside of [join(workspace, 'witness.log'), join(state, 'witness.log')]) {
    await assert.rejects(createRuntime({ workspace, state, witness: { file: inside } }), {
      code: 'E_POLICY',
      message: /^Witness file lies inside /,
    });
  }
});
