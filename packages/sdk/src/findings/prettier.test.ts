import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFindings } from './parse-findings.ts';

const message = 'File is not formatted as prettier would';

test('prettier --check gives the files it would change and those it cannot read', () => {
  const output = `Checking formatting...
[warn] src/a.ts
[warn] docs/my notes.md
[error] src/x.ts: SyntaxError: Declaration or statement expected. (4:2)
[error]   2 |
[warn] Code style issues found in 2 files. Run Prettier with --write to fix.
`;
  assert.deepEqual(parseFindings(output).findings, [
    { path: 'src/a.ts', severity: 'error', code: 'format', message },
    { path: 'docs/my notes.md', severity: 'error', code: 'format', message },
    {
      path: 'src/x.ts',
      line: 4,
      column: 2,
      severity: 'error',
      message: 'SyntaxError: Declaration or statement expected. (4:2)',
    },
  ]);
});

test('warnings of other programs are no findings of prettier', () => {
  const output = `[warn] src/a.ts
[warn] something uses node.js
[error] src/x.ts: TypeError: boom (1:2)
`;
  assert.deepEqual(parseFindings(output).findings, []);
});
