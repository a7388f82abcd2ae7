import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { changedPaths, createProbeScene, filesWithText, readFolderContent } from './tool-probe-scene.ts';

describe('the scene of a checked program', () => {
  test('is there with a home, a project and a pack, and gone afterwards', () => {
    const scene = createProbeScene();
    assert.equal(readFileSync(join(scene.project, 'notes/first.txt'), 'utf8'), 'one\ntwo\nthree\n');
    assert.deepEqual([...readFolderContent(scene.home)], []);
    assert.ok(scene.pack.startsWith(scene.root));
    scene.remove();
    assert.ok(!existsSync(scene.root));
  });

  test('has a folder that not even the superuser can write to', () => {
    const { readOnly = '', remove } = createProbeScene();
    assert.throws(() => writeFileSync(join(readOnly, 'x'), ''));
    assert.throws(() => mkdirSync(join(readOnly, 'x')));
    remove();
  });

  test('tells what was added, changed and removed, and nothing when nothing was', () => {
    const { project, remove } = createProbeScene();
    const before = readFolderContent(project);
    assert.deepEqual(changedPaths(before, readFolderContent(project)), []);
    // The size stays: only the content tells.
    writeFileSync(join(project, 'notes/first.txt'), 'one\ntwo\nTHREE\n');
    mkdirSync(join(project, 'new'));
    symlinkSync('/etc', join(project, 'link'));
    rmSync(join(project, 'README.md'));
    assert.deepEqual(changedPaths(before, readFolderContent(project)), ['README.md', 'link', 'new', 'notes/first.txt']);
    remove();
  });

  test('finds the files that hold a text, without following links', () => {
    const { root, project, remove } = createProbeScene();
    symlinkSync(root, join(project, 'loop'));
    assert.deepEqual(filesWithText(project, 'two'), ['notes/first.txt']);
    assert.deepEqual(filesWithText(project, 'no such text'), []);
    remove();
  });
});
