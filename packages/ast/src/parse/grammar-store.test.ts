import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import { isToolError } from '@tool-runtime/protocol';
import { createGrammarStore, GRAMMARS_FOLDER } from './grammar-store.ts';

const scratch = mkdtempSync(path.join(tmpdir(), 'grammars-'));
after(() => rmSync(scratch, { recursive: true }));

const MAGIC = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
const DYLINK_SECTION = [0x00, 0x09, 0x08, ...Buffer.from('dylink.0')];
/** One type `() -> ()` and one import `env.nowhere` of that type. */
const FOREIGN_IMPORT = [
  ...[0x01, 0x04, 0x01, 0x60, 0x00, 0x00],
  ...[0x02, 0x0f, 0x01, 0x03, ...Buffer.from('env'), 0x07, ...Buffer.from('nowhere'), 0x00, 0x00],
];

interface Change {
  readonly wasm?: Uint8Array;
  /** Written to the file but not to the lock. */
  readonly smuggled?: Uint8Array;
  readonly abi?: number;
}

/** A folder with the grammars of JSON and HTML, the one of JSON changed. */
function folderWith(name: string, change: Change): URL {
  const folder = pathToFileURL(`${path.join(scratch, name)}/`);
  for (const file of ['lock.json', 'json.wasm.br', 'html.wasm.br']) {
    cpSync(new URL(file, GRAMMARS_FOLDER), new URL(file, folder));
  }
  const lock = JSON.parse(readFileSync(new URL('lock.json', folder), 'utf8'));
  if (change.wasm !== undefined) lock.json.sha256 = hash('sha256', change.wasm);
  if (change.abi !== undefined) lock.json.abi = change.abi;
  writeFileSync(new URL('lock.json', folder), JSON.stringify(lock));
  const written = change.smuggled ?? change.wasm;
  if (written !== undefined) writeFileSync(new URL('json.wasm.br', folder), brotliCompressSync(written));
  return folder;
}

function originalJson(): Buffer {
  return brotliDecompressSync(readFileSync(new URL('json.wasm.br', GRAMMARS_FOLDER)));
}

describe('the grammar gate [S0-52]', () => {
  const tampered = originalJson();
  tampered[tampered.length - 1] = (tampered.at(-1) ?? 0) ^ 1;
  const refusals: readonly [reason: string, change: Change][] = [
    ['digest_mismatch', { smuggled: tampered }],
    ['not_wasm', { wasm: Buffer.from('not a module') }],
    ['no_dylink_section', { wasm: Buffer.from(MAGIC) }],
    ['foreign_import', { wasm: Buffer.from([...MAGIC, ...DYLINK_SECTION, ...FOREIGN_IMPORT]) }],
    ['abi_unsupported', { abi: 12 }],
  ];
  for (const [reason, change] of refusals) {
    test(`refuses a grammar by name for ${reason} and goes on with the others`, async () => {
      const store = createGrammarStore(folderWith(reason, change));
      await assert.rejects(store.load('json'), (error) => {
        assert.equal(isToolError(error), true);
        assert.match(String(error), /Grammar refused, .+: json$/);
        assert.equal((error as { details: { reason: string } }).details.reason, reason);
        return true;
      });
      assert.equal((await store.load('html')).abiVersion, 14);
    });
  }

  test('loads the same folder when nothing was changed', async () => {
    const store = createGrammarStore(folderWith('untouched', {}));
    assert.equal((await store.load('json')).abiVersion, 14);
    assert.equal((await store.load('html')).abiVersion, 14);
  });

  test('refuses a grammar whose file is missing, and one that was never vendored', async () => {
    const folder = folderWith('missing', {});
    rmSync(new URL('json.wasm.br', folder));
    const store = createGrammarStore(folder);
    await assert.rejects(store.load('json'), /its file is missing or damaged: json/);
    await assert.rejects(store.load('cobol'), /not in the lock file: cobol/);
  });

  test('loads a grammar once', async () => {
    const store = createGrammarStore();
    assert.equal(await store.load('json'), await store.load('json'));
  });

  test('lets every vendored grammar in', async () => {
    const store = createGrammarStore();
    for (const [grammar, { abi }] of Object.entries(store.lock)) {
      assert.equal((await store.load(grammar)).abiVersion, abi, grammar);
    }
  });
});
