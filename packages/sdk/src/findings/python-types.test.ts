import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFindings } from './parse-findings.ts';

test('mypy gives its findings with and without columns', () => {
  const output = `app/a.py:3: error: Incompatible types in assignment (expression has type "str", variable has type "int")  [assignment]
app/a.py:9:5: note: Revealed type is "builtins.list[builtins.int]"
Found 1 error in 1 file (checked 4 source files)
`;
  assert.deepEqual(parseFindings(output).findings, [
    {
      path: 'app/a.py',
      line: 3,
      severity: 'error',
      code: 'assignment',
      message: 'Incompatible types in assignment (expression has type "str", variable has type "int")',
    },
    {
      path: 'app/a.py',
      line: 9,
      column: 5,
      severity: 'info',
      message: 'Revealed type is "builtins.list[builtins.int]"',
    },
  ]);
});

test('pyright gives its findings, the rule of a long message from its last line', () => {
  const output = `/srv/project/q.py
  /srv/project/q.py:2:10 - error: Type "Literal['a']" is not assignable to declared type "int"
  \u00a0\u00a0"Literal['a']" is not assignable to "int" (reportAssignmentType)
  /srv/project/q.py:3:5 - warning: "name" is not defined (reportUndefinedVariable)
1 error, 1 warning, 0 informations
`;
  assert.deepEqual(parseFindings(output, { root: '/srv/project' }).findings, [
    {
      path: 'q.py',
      line: 2,
      column: 10,
      severity: 'error',
      code: 'reportAssignmentType',
      message: 'Type "Literal[\'a\']" is not assignable to declared type "int"',
    },
    {
      path: 'q.py',
      line: 3,
      column: 5,
      severity: 'warning',
      code: 'reportUndefinedVariable',
      message: '"name" is not defined',
    },
  ]);
});

test('prose about Python files gives nothing', () => {
  const output = `Success: no issues found in 4 source files
a.py has 3: error handling, logging and tests
see q.py - error: is what people search for
`;
  assert.deepEqual(parseFindings(output).findings, []);
});
