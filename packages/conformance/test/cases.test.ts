/** What holds for all cases together. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { SHIPPED } from '../src/profile/load-profile.ts';
import { CASES } from '../src/run-suite.ts';

test('every case says what it tries, what would be wrong and why it matters, under an id of its own', () => {
  assert.equal(new Set(CASES.map(({ id }) => id)).size, CASES.length);
  for (const { id, tries, wrong, why, needs } of CASES) {
    assert.match(id, /^[a-z]+\.[a-z-]+$/);
    for (const text of [tries, wrong, why]) assert.ok(text.length > 10, id);
    assert.ok(needs.length > 0, id);
  }
});

test('a case goes further only than cases that are run before it', () => {
  CASES.forEach(({ id, after = [] }, at) => {
    const before = CASES.slice(0, at).map((one) => one.id);
    for (const other of after) assert.ok(before.includes(other), `${id} after ${other}`);
  });
});

test('no case, scene or server knows a tool, a server or a profile by its name', () => {
  const names = SHIPPED.flatMap(({ name, tools }) => [
    name,
    ...Object.values(tools).flatMap((mapping) => (mapping === undefined ? [] : [mapping.tool])),
  ]).filter((name) => /[_-]/.test(name));
  assert.ok(names.includes('file_read'));
  const root = path.join(import.meta.dirname, '../src');
  for (const file of globSync('{cases,scene,server}/*.ts', { cwd: root })) {
    const text = readFileSync(path.join(root, file), 'utf8').replaceAll("'@tool-runtime/protocol'", '');
    for (const name of [...names, 'tool-runtime']) assert.ok(!text.includes(name), `${file} names ${name}`);
  }
});
