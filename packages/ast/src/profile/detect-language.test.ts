import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLanguageDetector, type DetectHints } from './detect-language.ts';
import { loadProfile, loadProfiles } from './load-profile.ts';
import type { LanguageProfile } from './profile.ts';

const detector = createLanguageDetector(loadProfiles());

const FILES: readonly [file: string, hints: DetectHints, language: string | undefined][] = [
  ['src/a.ts', {}, 'typescript'],
  ['src/a.d.mts', {}, 'typescript'],
  ['src/A.TSX', {}, 'tsx'],
  ['a.cjs', {}, 'javascript'],
  ['lib/x.pyi', {}, 'python'],
  ['wscript', {}, 'python'],
  ['bin/tool', { firstLine: '#!/usr/bin/env python3' }, 'python'],
  ['bin/tool', { firstLine: '#!/usr/bin/env -S LANG=C python3.12 -u' }, 'python'],
  ['bin/tool', { firstLine: '\uFEFF#!/usr/local/bin/node --flag\r' }, 'javascript'],
  ['bin/tool', { firstLine: '#!/bin/unknown' }, undefined],
  ['bin/tool', { firstLine: 'plain text' }, undefined],
  ['bin/tool', {}, undefined],
  ['src/main.rs', { firstLine: '#!/usr/bin/env python3' }, 'rust'],
  ['.ts', {}, undefined],
  ['notes.txt', {}, undefined],
];

for (const [file, hints, language] of FILES) {
  test(`${file} ${JSON.stringify(hints)} is ${language ?? 'in no known language'} [S0-52]`, () => {
    assert.equal(detector.detect(file, hints), language);
  });
}

test('an extension two languages claim goes to the first, or to the one the caller prefers', () => {
  const { profile } = loadProfile('rust');
  const claiming = (id: string): LanguageProfile => ({
    ...profile,
    id,
    detect: { ext: ['.h'], names: [], shebang: [] },
  });
  const headers = createLanguageDetector([claiming('c'), claiming('cpp')]);
  assert.equal(headers.detect('include/a.h'), 'c');
  assert.equal(headers.detect('include/a.h', { prefer: ['go', 'cpp'] }), 'cpp');
  assert.equal(headers.detect('include/a.h', { prefer: ['go'] }), 'c');
});
