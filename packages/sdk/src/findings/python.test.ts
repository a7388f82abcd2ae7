import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFindings } from './parse-findings.ts';

test('flake8 and ruff give their one-line findings', () => {
  const output = `./app/a.py:1:1: F401 'os' imported but unused
app/a.py:2:80: W291 trailing whitespace
app/b.py:1:8: F401 [*] \`sys\` imported but unused
app/c.py:4:1: invalid-syntax: Expected an indented block
Found 4 errors.
`;
  assert.deepEqual(parseFindings(output).findings, [
    { path: 'app/a.py', line: 1, column: 1, severity: 'error', code: 'F401', message: "'os' imported but unused" },
    { path: 'app/a.py', line: 2, column: 80, severity: 'warning', code: 'W291', message: 'trailing whitespace' },
    { path: 'app/b.py', line: 1, column: 8, severity: 'error', code: 'F401', message: '`sys` imported but unused' },
    {
      path: 'app/c.py',
      line: 4,
      column: 1,
      severity: 'error',
      code: 'invalid-syntax',
      message: 'Expected an indented block',
    },
  ]);
});

test('black --check and ruff format --check give the files they would change', () => {
  const output = `would reformat /srv/project/a.py
error: cannot format b.py: Cannot parse for target version Python 3.13: 2:7: def f(:
Would reformat: c.py

Oh no! 💥 💔 💥
1 file would be reformatted, 2 files would be left unchanged.
`;
  assert.deepEqual(parseFindings(output, { root: '/srv/project' }).findings, [
    { path: 'a.py', severity: 'error', code: 'format', message: 'File is not formatted' },
    {
      path: 'b.py',
      line: 2,
      column: 7,
      severity: 'error',
      message: 'Cannot parse for target version Python 3.13: 2:7: def f(:',
    },
    { path: 'c.py', severity: 'error', code: 'format', message: 'File is not formatted' },
  ]);
});

test("Python's own syntax errors give the file they are in", () => {
  const output = `  File "app/p.py", line 2
    def f(:
          ^
SyntaxError: invalid syntax
`;
  assert.deepEqual(parseFindings(output).findings, [
    { path: 'app/p.py', line: 2, severity: 'error', code: 'SyntaxError', message: 'invalid syntax' },
  ]);
});

test('tracebacks of running programs and plain prose give nothing', () => {
  const output = `Traceback (most recent call last):
  File "app/p.py", line 2, in <module>
    main()
  File "app/q.py", line 9
ValueError: bad input
would reformat the disk
a.py:1:1: what is this
`;
  assert.deepEqual(parseFindings(output).findings, []);
});
