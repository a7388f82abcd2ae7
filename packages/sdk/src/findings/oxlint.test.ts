import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFindings } from './parse-findings.ts';

test('oxlint gives its findings with plain and with drawn frames', () => {
  const output = `
  ! eslint(no-unused-vars): Variable 'x' is declared but never used.
   ,-[src/a.ts:1:7]
 1 | const x: number = 'a';
   :       |
   \`----
  help: Consider removing this declaration.

  × typescript-eslint(no-explicit-any): Unexpected any.
  │ Specify a different type.
   ╭─[src/b.ts:3:1]
 3 │ debugger;
   ╰────

  x Unexpected token
   ,-[/srv/project/c.js:2:9]

Found 1 warning and 2 errors.
`;
  assert.deepEqual(parseFindings(output, { root: '/srv/project' }).findings, [
    {
      path: 'src/a.ts',
      line: 1,
      column: 7,
      severity: 'warning',
      code: 'eslint(no-unused-vars)',
      message: "Variable 'x' is declared but never used.",
    },
    {
      path: 'src/b.ts',
      line: 3,
      column: 1,
      severity: 'error',
      code: 'typescript-eslint(no-explicit-any)',
      message: 'Unexpected any. Specify a different type.',
    },
    { path: 'c.js', line: 2, column: 9, severity: 'error', message: 'Unexpected token' },
  ]);
});

test('a place without a message above it, and a message without a place, give nothing', () => {
  const output = `Downloads
   ,-[src/a.ts:1:7]

  ! careful: this takes a while
  x no such thing
  more text
`;
  assert.deepEqual(parseFindings(output).findings, []);
});
