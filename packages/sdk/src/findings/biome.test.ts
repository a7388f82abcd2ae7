import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFindings } from './parse-findings.ts';

test('biome gives each heading with the message below it', () => {
  const output = `src/a.ts:1:7 lint/correctness/noUnusedVariables  FIXABLE  ━━━━━━━━━━━━━━━━━━

  ! This variable x is unused.
  
  > 1 │ const x: number = 'a';
      │       ^
  
  i Unused variables are often the result of typos.
  

src/a.ts:3:1 lint/suspicious/noDebugger  FIXABLE  ━━━━━━━━━━━━━━━━━━━━━━━━━━

  × This is an unexpected use of the debugger statement.
  

src/a.ts format ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━

  × Formatter would have printed the following content:
  
    1   │ - const·x:·number·=·'a';

check ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━

  × Some errors were emitted while running checks.
  
`;
  assert.deepEqual(parseFindings(output).findings, [
    {
      path: 'src/a.ts',
      line: 1,
      column: 7,
      severity: 'warning',
      code: 'lint/correctness/noUnusedVariables',
      message: 'This variable x is unused.',
    },
    {
      path: 'src/a.ts',
      line: 3,
      column: 1,
      severity: 'error',
      code: 'lint/suspicious/noDebugger',
      message: 'This is an unexpected use of the debugger statement.',
    },
    {
      path: 'src/a.ts',
      severity: 'error',
      code: 'format',
      message: 'Formatter would have printed the following content:',
    },
  ]);
});

test('rules drawn by other programs are no headings of biome', () => {
  const output = `Results ━━━━━━━━━━
  ! 3 of 4 passed
Step one of two ━━━━━
  × failed
src/a.ts:1:7 lint/x ━━━━

not indented
`;
  assert.deepEqual(parseFindings(output).findings, []);
});
