import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compilePattern } from '../pattern/compile-pattern.ts';
import { sampleTexts } from './sample-texts.ts';

test('texts are taken from alternatives, classes, options and repetitions, and match their pattern', () => {
  const cases: Readonly<Record<string, readonly string[]>> = {
    '^npm (test|run lint)( |$)': ['npm test', 'npm run lint'],
    '^make [a-z]+$': ['make a'],
    '^git (?:log|show) \\d{2,3}$': ['git log 11', 'git show 11'],
    '^ls( -la?)?$': ['ls', 'ls -l', 'ls -la'],
    '^cargo(\\s|$)': ['cargo'],
    '(?i)^\\./scripts/[^a]x\\.sh': ['./scripts/zx.sh'],
    '^a|^b': ['a', 'b'],
  };
  for (const [source, texts] of Object.entries(cases)) {
    const found = sampleTexts(source);
    assert.deepEqual(found.toSorted(), texts.toSorted(), source);
    const { test: matches } = compilePattern(source);
    for (const text of found) assert.ok(matches(text) || matches(`${text} `), `${source} → ${text}`);
  }
});

test('a hostile pattern gives few texts, at once', () => {
  assert.ok(sampleTexts(`^${'(a|b|c)?'.repeat(40)}`).length <= 24);
  for (const odd of ['', '(', '[', '\\', 'a{2', '(?<x>y', '*', '|||']) assert.ok(Array.isArray(sampleTexts(odd)), odd);
});
