import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { LANGUAGE_IDS } from './catalog.ts';
import { loadProfile } from './load-profile.ts';

const scratch = mkdtempSync(path.join(tmpdir(), 'languages-'));
const folder = pathToFileURL(`${scratch}/`);
after(() => rmSync(scratch, { recursive: true }));

const RUST = loadProfile('rust').profile;

function write(id: string, profile: object, files: Readonly<Record<string, string>>): void {
  mkdirSync(path.join(scratch, id), { recursive: true });
  for (const [file, text] of Object.entries({ ...files, 'profile.json': JSON.stringify(profile) })) {
    writeFileSync(path.join(scratch, id, file), text);
  }
}

test('every profile of the catalog has the right form [S0-52]', () => {
  for (const id of LANGUAGE_IDS) assert.equal(loadProfile(id).profile.id, id);
});

test('a profile with an unknown field or a broken expression is refused, a whole one is read', () => {
  write('one', { ...RUST, id: 'one', colour: 'red' }, { 'symbols.scm': '' });
  assert.throws(() => loadProfile('one', folder), /colour/);
  write('one', { ...RUST, id: 'one', exported: { by: 'node', match: '(' } }, { 'symbols.scm': '' });
  assert.throws(() => loadProfile('one', folder), /Not a valid regular expression/);
  write('one', { ...RUST, id: 'one' }, { 'symbols.scm': '' });
  assert.equal(loadProfile('one', folder).profile.label, 'Rust');
});

test('a profile in the folder of another language is refused', () => {
  write('two', RUST, { 'symbols.scm': '' });
  assert.throws(() => loadProfile('two', folder), { name: 'TypeError', message: /two, rust/ });
});

test('the queries of another language come before the own ones, and the digest follows every file', () => {
  write('base', { ...RUST, id: 'base' }, { 'symbols.scm': '; base', 'locals.scm': '; locals' });
  write('child', { ...RUST, id: 'child', queries_from: 'base' }, { 'symbols.scm': '; child' });
  const child = loadProfile('child', folder);
  assert.deepEqual([child.symbolsQuery, child.localsQuery], ['; base\n; child', '; locals']);
  write('base', { ...RUST, id: 'base' }, { 'locals.scm': '; changed' });
  assert.notEqual(loadProfile('child', folder).digest, child.digest);
});
