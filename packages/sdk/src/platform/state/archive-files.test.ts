import assert from 'node:assert/strict';
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { sha256Hex } from '../digest.ts';
import { createArchiveFiles } from './archive-files.ts';

const root = mkdtempSync(join(tmpdir(), 'archive-files-'));
after(() => rmSync(root, { recursive: true, force: true }));
const newFolder = () => mkdtempSync(join(root, 'state-'));
const NAME = 'journal-1-2-00ff.jsonl.gz';

test('a draft is written in pieces, gets its name when it is whole, and is read in pieces', async () => {
  const folder = newFolder();
  const files = createArchiveFiles(folder);
  const draft = await files.create();
  await draft.write(Buffer.from('one '));
  await draft.write(Buffer.from('two'));
  assert.deepEqual([files.list(), files.drafts().length, files.open(NAME)], [[], 1, undefined]);
  assert.deepEqual(await draft.finish(), { sha256: sha256Hex('one two'), bytes: 7 });
  draft.place(NAME);
  await draft.discard();
  assert.deepEqual([files.list(), files.drafts(), readdirSync(folder)], [[NAME], [], [NAME]]);
  assert.equal(statSync(join(folder, NAME)).mode & 0o777, 0o600);
  const file = files.open(NAME);
  assert.deepEqual([file?.size, file?.read(0, 3).toString(), file?.read(4, 100).toString()], [7, 'one', 'two']);
  file?.close();
  files.remove(NAME);
  files.remove(NAME);
  assert.deepEqual(readdirSync(folder), []);
});

test('a draft that is given up leaves nothing, finished or not', async () => {
  const folder = newFolder();
  const files = createArchiveFiles(folder);
  const [one, other] = [await files.create(), await files.create()];
  await other.finish();
  await one.discard();
  await other.discard();
  assert.deepEqual(readdirSync(folder), []);
});

test('other files of the folder are neither listed nor read', () => {
  const folder = newFolder();
  for (const name of ['journal.db', 'journal-1-2.jsonl', '.draft-00', 'journal-a-b-c.jsonl.gz']) {
    writeFileSync(join(folder, name), '');
  }
  const files = createArchiveFiles(folder);
  assert.deepEqual([files.list(), files.drafts()], [[], []]);
});

test('an archive that is a link or open to others is refused', () => {
  const folder = newFolder();
  const files = createArchiveFiles(folder);
  symlinkSync('/etc/hostname', join(folder, NAME));
  assert.throws(() => files.open(NAME), /symbolic link/);
  rmSync(join(folder, NAME));
  writeFileSync(join(folder, NAME), 'x', { mode: 0o600 });
  assert.equal(readFileSync(join(folder, NAME), 'utf8'), 'x');
  files.open(NAME)?.close();
  chmodSync(join(folder, NAME), 0o644);
  assert.throws(() => files.open(NAME), /open to others/);
});

test('a folder that is gone is named as such', async () => {
  const files = createArchiveFiles(join(root, 'nowhere'));
  await assert.rejects(files.create(), /State folder cannot be used: ENOENT/);
  assert.throws(() => files.list(), /State folder cannot be used: ENOENT/);
});
