import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createFolders } from '../../../test/mcp-install/try-client.ts';
import { readConfigFile, writeConfigFile } from './config-file.ts';

function change(root: string, name: string, text: string): void {
  const place = { path: join(root, name), root };
  writeConfigFile(place, readConfigFile(place), text);
}

describe('files of other programs', () => {
  test('are replaced whole, keep their mode, and leave their first version beside them once', () => {
    using folders = createFolders();
    const path = join(folders.home, 'a.json');
    writeFileSync(path, 'first');
    chmodSync(path, 0o640);
    change(folders.home, 'a.json', 'second');
    change(folders.home, 'a.json', 'third');
    assert.equal(readFileSync(path, 'utf8'), 'third');
    assert.equal(readFileSync(`${path}.bak`, 'utf8'), 'first');
    assert.equal(statSync(path).mode & 0o777, 0o640);
    assert.deepEqual(readdirSync(folders.home), ['a.json', 'a.json.bak']);
  });

  test('are made, with their folders, and leave no backup', () => {
    using folders = createFolders();
    change(folders.home, 'b/c/d.json', 'new');
    assert.deepEqual(readdirSync(join(folders.home, 'b/c')), ['d.json']);
  });

  test('are not written when they changed after they were read', () => {
    using folders = createFolders();
    const place = { path: join(folders.home, 'a'), root: folders.home };
    const read = readConfigFile(place);
    writeFileSync(place.path, 'theirs');
    assert.throws(() => writeConfigFile(place, read, 'ours'), /File was changed meanwhile/);
    assert.equal(readFileSync(place.path, 'utf8'), 'theirs');
  });

  test('are found through links inside their folder, which stay links', () => {
    using folders = createFolders();
    mkdirSync(join(folders.home, 'dotfiles'));
    symlinkSync('dotfiles/missing.json', join(folders.home, 'a.json'));
    change(folders.home, 'a.json', 'x');
    assert.equal(readFileSync(join(folders.home, 'dotfiles/missing.json'), 'utf8'), 'x');
    assert.equal(readFileSync(join(folders.home, 'a.json'), 'utf8'), 'x');
  });

  test('are refused behind links that lead elsewhere, be it the file, its folder, or what does not exist yet', () => {
    using folders = createFolders();
    folders.write('home/secret', 'theirs');
    symlinkSync(join(folders.home, 'secret'), join(folders.project, 'file'));
    symlinkSync(folders.home, join(folders.project, 'folder'));
    symlinkSync('../home/new', join(folders.project, 'dangling'));
    for (const name of ['file', 'folder/secret', 'folder/new', 'dangling']) {
      assert.throws(() => change(folders.project, name, 'x'), /A link leads out of/, name);
    }
    assert.equal(folders.read('home/secret'), 'theirs');
    assert.equal(existsSync(join(folders.home, 'new')), false);
    symlinkSync('turning', join(folders.project, 'turning'));
    assert.throws(() => change(folders.project, 'turning', 'x'), /cannot be read|Too many links/);
  });

  test('are refused when they are folders, no UTF-8 or too large', () => {
    using folders = createFolders();
    mkdirSync(join(folders.home, 'folder'));
    writeFileSync(join(folders.home, 'bytes'), Buffer.from([0xff, 0xfe, 0x41]));
    writeFileSync(join(folders.home, 'large'), 'x'.repeat(1024 * 1024 + 1));
    assert.throws(() => change(folders.home, 'folder', 'x'), /Not a regular file/);
    assert.throws(() => change(folders.home, 'bytes', 'x'), /File is not UTF-8/);
    assert.throws(() => change(folders.home, 'large', 'x'), /File is larger than/);
  });
});
