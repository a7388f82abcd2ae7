import assert from 'node:assert/strict';
import { test } from 'node:test';
import { splitImportTree } from './join-imports.ts';

const RUST = { separator: '::', self: 'self' };

const ROWS: readonly [tree: string, parts: string[]][] = [
  ['a::b::c', ['a::b c']],
  ['serde', ['serde']],
  ['a::*', ['a *']],
  ['a::b as c', ['a b=c']],
  ['a::{b, c as d, e::f}', ['a b', 'a c=d', 'a::e f']],
  ['a::b::{self, c}', ['a b', 'a::b c']],
  ['a::{b::{c, d::*}, self as x}', ['a::b c', 'a::b::d *', 'a=x']],
  ['a::{\n  b,\n  c,\n}', ['a b', 'a c']],
  ['{a::b, c}', ['a b', 'c']],
];

for (const [tree, parts] of ROWS) {
  test(`the import tree ${JSON.stringify(tree)} stands for ${parts.join(', ')} [S0-70]`, () => {
    const answer = splitImportTree(tree, RUST).map(
      ({ source, name, alias, star }) =>
        `${source}${name === undefined ? '' : ` ${name}`}${star ? ' *' : ''}${alias === undefined ? '' : `=${alias}`}`,
    );
    assert.deepEqual(answer, parts);
  });
}
