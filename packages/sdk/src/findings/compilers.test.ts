import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFindings } from './parse-findings.ts';

test('gcc and clang give their findings, headers included', () => {
  const output = `In file included from src/m.c:1:
include/h.h:1:11: warning: initialization of ‘int’ from ‘char *’ makes integer from pointer without a cast [-Wint-conversion]
    1 | int bad = "x";
      |           ^~~
src/m.c: In function ‘main’:
src/m.c:2:36: error: ‘foo’ undeclared (first use in this function)
src/m.c:2:36: note: each undeclared identifier is reported only once
src/n.c:7: fatal error: nowhere.h: No such file or directory
compilation terminated.
`;
  assert.deepEqual(parseFindings(output).findings, [
    {
      path: 'include/h.h',
      line: 1,
      column: 11,
      severity: 'warning',
      code: '-Wint-conversion',
      message: 'initialization of ‘int’ from ‘char *’ makes integer from pointer without a cast',
    },
    {
      path: 'src/m.c',
      line: 2,
      column: 36,
      severity: 'error',
      message: '‘foo’ undeclared (first use in this function)',
    },
    {
      path: 'src/m.c',
      line: 2,
      column: 36,
      severity: 'info',
      message: 'each undeclared identifier is reported only once',
    },
    { path: 'src/n.c', line: 7, severity: 'error', message: 'nowhere.h: No such file or directory' },
  ]);
});

test('headers of the system and lines with a time in them give nothing', () => {
  const output = `/usr/include/stdio.h:10:2: error: not yours
2024-05-01 10:30:15: error: connection lost
Server at 10:30:15: warning: slow
localhost:8080:12: error: refused
make: *** [Makefile:3: all] Error 1
/usr/bin/ld: main.o: in function \`main':
`;
  assert.deepEqual(parseFindings(output, { root: '/srv/project' }).findings, []);
});
