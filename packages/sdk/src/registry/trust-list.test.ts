import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { sha256Hex } from '../platform/digest.ts';
import { openStateFolder, type StateFolder } from '../platform/state/state-folder.ts';
import { MAX_REGISTRY_BYTES } from './problems.ts';
import { openTrustList } from './trust-list.ts';

const STORE = 'trusted-registries.json';
const content = (text: string) => ({ sha256: sha256Hex(text), text });
const FIRST = content('version: 1\n');
const SECOND = content('version: 1\nside_effect_level: network\n');

function inState(use: (state: StateFolder) => void): void {
  const scratch = mkdtempSync(join(tmpdir(), 'tool-runtime-trust-'));
  try {
    use(openStateFolder(join(scratch, 'state')));
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

describe('the trust list', () => {
  test('trusts the content that was trusted last, across openings, until it is revoked', () => {
    inState((state) => {
      assert.equal(openTrustList(state).has('a', FIRST.sha256), false);
      assert.equal(openTrustList(state).revoke('a'), false);
      openTrustList(state).trust('a', FIRST);
      assert.equal(openTrustList(state).has('a', FIRST.sha256), true);
      assert.equal(openTrustList(state).has('b', FIRST.sha256), false);
      assert.equal(openTrustList(state).revoke('a'), true);
      assert.equal(openTrustList(state).has('a', FIRST.sha256), false);
      assert.equal(openTrustList(state).revoke('a'), false);
      assert.equal(openTrustList(state).last('a')?.text, FIRST.text);
    });
  });

  test('after any history exactly one content of a file counts: the one of the last decision', () => {
    const texts = ['one', 'two', 'three'].map(content);
    const step = fc.record({ file: fc.constantFrom('a', 'b'), text: fc.constantFrom(...texts, null) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) =>
        inState((state) => {
          const expected = new Map<string, string>();
          for (const { file, text } of steps) {
            if (text === null) openTrustList(state).revoke(file);
            else openTrustList(state).trust(file, text);
            if (text === null) expected.delete(file);
            else expected.set(file, text.sha256);
          }
          for (const file of ['a', 'b']) {
            const trusted = texts.filter(({ sha256 }) => openTrustList(state).has(file, sha256));
            const wanted = texts.filter(({ sha256 }) => sha256 === expected.get(file));
            assert.deepEqual(trusted, wanted);
          }
        }),
      ),
      { seed: 20261116, numRuns: 60 },
    );
  });

  test('keeps the last text for a comparison, private and only up to the size of a registry', () => {
    inState((state) => {
      openTrustList(state).trust('a', SECOND);
      assert.equal(statSync(join(state.path, STORE)).mode & 0o777, 0o600);
      const large = content('x'.repeat(MAX_REGISTRY_BYTES + 1));
      openTrustList(state).trust('a', large);
      assert.deepEqual(openTrustList(state).last('a')?.text, null);
      assert.equal(openTrustList(state).has('a', large.sha256), true);
    });
  });

  test('a damaged list and the list of earlier versions, which does not say what came last, trust nothing', () => {
    const entry = JSON.stringify({ ...FIRST, is_trusted: true });
    for (const text of [
      '',
      `{"a": ${entry}`,
      `["${FIRST.sha256}"]`,
      `{"version":1,"files":{"a":${entry}}}`,
      `{"version":2,"files":{"a":{"sha256":"${FIRST.sha256}","is_trusted":true}}}`,
      '{"version":2,"files":[]}',
      'null',
    ]) {
      inState((state) => {
        writeFileSync(join(state.path, STORE), text, { mode: 0o600 });
        assert.equal(openTrustList(state).has('a', FIRST.sha256), false, text);
        openTrustList(state).trust('a', FIRST);
        assert.equal(openTrustList(state).has('a', FIRST.sha256), true, text);
      });
    }
  });
});
