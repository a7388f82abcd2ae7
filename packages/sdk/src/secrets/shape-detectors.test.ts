import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PRESET_GATES } from './preset-gates.ts';
import { privateKeyAt } from './private-key.ts';
import { SHAPE_DETECTORS } from './shape-detectors.ts';

/** The source without escapes and classes, where a star, a plus or an open count would be a quantifier. */
function skeletonOf(pattern: RegExp): string {
  return pattern.source.replace(/\\[^k]/g, 'e').replace(/\[(?:[^\]])*\]/g, 'c');
}

const UNBOUNDED = /[*+]|\{\d+,\}/;

test('S0-67 every pattern tried at an anchor has a longest match, so a try has a highest price', () => {
  const patterns = [...SHAPE_DETECTORS, ...Object.values(PRESET_GATES).map(({ confirms }) => ({ pattern: confirms }))];
  assert.ok(patterns.length > 30);
  for (const { pattern } of patterns) {
    assert.ok(pattern.sticky, pattern.source);
    assert.doesNotMatch(skeletonOf(pattern), UNBOUNDED);
  }
});

test('S0-67 the check above sees an open quantifier', () => {
  for (const pattern of [/a*/, /[+*]b+/, /(?:c\{){2,}/]) assert.match(skeletonOf(pattern), UNBOUNDED);
  for (const pattern of [/[+*]\+\*/, /a{2,3}/]) assert.doesNotMatch(skeletonOf(pattern), UNBOUNDED);
});

test('S0-67 a text full of key headers is read once: no two key blocks share a character', () => {
  const header = ['-----BEGIN', 'PRIVATE KEY-----'].join(' ');
  const text = `${header}${'A1'.repeat(20)}`.repeat(500);
  let end = 0;
  for (let at = text.indexOf(header); at !== -1; at = text.indexOf(header, at + 1)) {
    const match = privateKeyAt(text, at);
    assert.ok(match !== undefined && match.start >= end);
    end = match.end;
  }
});
