import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFindings } from './parse-findings.ts';

test('rustc and cargo give the heading of each arrow', () => {
  const output = `   Compiling app v0.1.0 (/srv/project)
error[E0308]: mismatched types
 --> src/main.rs:1:26
  |
1 | fn main() { let x: i32 = "a"; }
  |                    ---   ^^^ expected \`i32\`, found \`&str\`

warning: unused variable: \`y\`
  --> crates/core/src/lib.rs:14:9
   |
note: the lint level is defined here
  --> crates/core/src/lib.rs:1:9

error: aborting due to 1 previous error; 1 warning emitted

For more information about this error, try \`rustc --explain E0308\`.
error: could not compile \`app\` (bin "app") due to 1 previous error
`;
  assert.deepEqual(parseFindings(output).findings, [
    { path: 'src/main.rs', line: 1, column: 26, severity: 'error', code: 'E0308', message: 'mismatched types' },
    { path: 'crates/core/src/lib.rs', line: 14, column: 9, severity: 'warning', message: 'unused variable: `y`' },
    { path: 'crates/core/src/lib.rs', line: 1, column: 9, severity: 'info', message: 'the lint level is defined here' },
  ]);
});

test("rustc's short form gives the same finding", () => {
  const output = 'src/main.rs:1:26: error[E0308]: mismatched types: expected `i32`, found `&str`';
  assert.deepEqual(parseFindings(output).findings, [
    {
      path: 'src/main.rs',
      line: 1,
      column: 26,
      severity: 'error',
      code: 'E0308',
      message: 'mismatched types: expected `i32`, found `&str`',
    },
  ]);
});

test('rustfmt --check gives each difference, in its old and its new wording', () => {
  const output = `Diff in /srv/project/src/main.rs:12:
\u001b[31m-fn main() { let y = 1; }
\u001b(B\u001b[m\u001b[32m+fn main() {
Diff in /srv/project/src/lib.rs at line 3:
 pub fn f() {}
`;
  const message = 'Lines are not formatted as rustfmt would';
  assert.deepEqual(parseFindings(output, { root: '/srv/project' }).findings, [
    { path: 'src/main.rs', line: 12, severity: 'error', code: 'format', message },
    { path: 'src/lib.rs', line: 3, severity: 'error', code: 'format', message },
  ]);
});

test('ruff prints its headings above the same arrow', () => {
  const output = `F401 [*] \`os\` imported but unused
 --> pkg/q.py:1:8
  |
1 | import os

invalid-syntax: Expected a parameter
 --> pkg/p.py:2:7
`;
  assert.deepEqual(parseFindings(output).findings, [
    { path: 'pkg/q.py', line: 1, column: 8, severity: 'error', code: 'F401', message: '`os` imported but unused' },
    {
      path: 'pkg/p.py',
      line: 2,
      column: 7,
      severity: 'error',
      code: 'invalid-syntax',
      message: 'Expected a parameter',
    },
  ]);
});

test('arrows and diffs of other kinds give nothing', () => {
  const output = `Moved the file
 --> src/main.rs:1:26
error: this heading

 --> src/main.rs:2:1
error: outside
 --> /rustc/0abc/library/core/src/fmt/mod.rs:10:5
Diff in opinion at line 3:
Diff in the end
`;
  assert.deepEqual(parseFindings(output, { root: '/srv/project' }).findings, []);
});
