import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFindings } from './parse-findings.ts';

test('eslint stylish gives the rows of each file', () => {
  const output = `
\u001b[4m/srv/project/src/a.js\u001b[24m
  \u001b[2m1:7\u001b[22m   \u001b[31merror\u001b[39m    'x' is assigned a value but never used  \u001b[2mno-unused-vars\u001b[22m
  12:1  warning  Unexpected console statement            @scope/plugin/no-console

/srv/project/lib/b.js
  3:10  error  Parsing error: Unexpected token

✖ 3 problems (2 errors, 1 warning)
`;
  assert.deepEqual(parseFindings(output, { root: '/srv/project' }).findings, [
    {
      path: 'src/a.js',
      line: 1,
      column: 7,
      severity: 'error',
      code: 'no-unused-vars',
      message: "'x' is assigned a value but never used",
    },
    {
      path: 'src/a.js',
      line: 12,
      column: 1,
      severity: 'warning',
      code: '@scope/plugin/no-console',
      message: 'Unexpected console statement',
    },
    { path: 'lib/b.js', line: 3, column: 10, severity: 'error', message: 'Parsing error: Unexpected token' },
  ]);
});

test('eslint unix gives its findings', () => {
  const output = `/srv/project/a.js:1:7: 'x' is never used. [Error/no-unused-vars]
/srv/project/a.js:3:1: Parsing stopped [Warning]

2 problems
`;
  assert.deepEqual(parseFindings(output, { root: '/srv/project/' }).findings, [
    { path: 'a.js', line: 1, column: 7, severity: 'error', code: 'no-unused-vars', message: "'x' is never used." },
    { path: 'a.js', line: 3, column: 1, severity: 'warning', message: 'Parsing stopped' },
  ]);
});

test('eslint compact gives its findings', () => {
  const output = `src/a.js: line 1, col 7, Error - 'x' (a number) is never used. (no-unused-vars)
src/a.js: line 2, col 1, Warning - Unexpected 'debugger' statement. (no-debugger)
`;
  assert.deepEqual(parseFindings(output).findings, [
    {
      path: 'src/a.js',
      line: 1,
      column: 7,
      severity: 'error',
      code: 'no-unused-vars',
      message: "'x' (a number) is never used.",
    },
    {
      path: 'src/a.js',
      line: 2,
      column: 1,
      severity: 'warning',
      code: 'no-debugger',
      message: "Unexpected 'debugger' statement.",
    },
  ]);
});

test('rows count only right below the name of a file', () => {
  const output = `Timetable
  9:30  error  the train is late  red
src/a.js

  1:7  error  rows behind a gap  rule
  2:7  error  belong to nobody  rule
a.js: line 3, col x, Error - no
`;
  assert.deepEqual(parseFindings(output).findings, []);
});
