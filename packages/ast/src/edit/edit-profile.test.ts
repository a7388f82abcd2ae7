import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LANGUAGE_IDS } from '../profile/catalog.ts';
import { createEngine } from '../symbols/engine.ts';
import { createEditProfiles } from './edit-profile.ts';

describe('the edit data of languages', () => {
  const profiles = createEditProfiles();
  const engine = createEngine();

  for (const language of LANGUAGE_IDS) {
    test(`of ${language} names only kinds that its grammar has`, async () => {
      const { imports, move } = profiles(language);
      const { statements = [], header = [], lists = [], blocks = [] } = imports ?? {};
      const parser = await engine.parserFor(language);
      for (const kind of [...statements, ...header, ...lists, ...blocks, ...(move?.package ?? [])]) {
        assert.doesNotThrow(() => parser.compile(`(${kind}) @x`).delete(), kind);
      }
    });
  }

  test('is that of TypeScript in TSX', () => {
    assert.deepEqual(profiles('tsx'), profiles('typescript'));
  });

  test('is empty for a language without any', () => {
    const none = createEditProfiles(new URL('file:///nowhere/'));
    assert.deepEqual([none('x').imports, none('x').move, none('x').expando], [undefined, undefined, '$']);
  });
});
