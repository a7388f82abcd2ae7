import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFindings } from './parse-findings.ts';

test('javac gives its findings, the column from the caret', () => {
  const output = `src/M.java:1: error: incompatible types: String cannot be converted to int
class M { int x = "a"; }
                  ^
src/M.java:4: warning: [rawtypes] found raw type: List
    java.util.List l;
             ^
  missing type arguments for generic class List<E>
1 error
1 warning
`;
  assert.deepEqual(parseFindings(output).findings, [
    {
      path: 'src/M.java',
      line: 1,
      column: 19,
      severity: 'error',
      message: 'incompatible types: String cannot be converted to int',
    },
    {
      path: 'src/M.java',
      line: 4,
      column: 14,
      severity: 'warning',
      code: 'rawtypes',
      message: 'found raw type: List',
    },
  ]);
});

test('Maven gives its findings', () => {
  const output = `[ERROR] /srv/project/src/main/java/M.java:[12,8] cannot find symbol
[WARNING] /srv/project/src/main/java/M.java:[3,1] [deprecation] f() in A has been deprecated
[ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin:3.13.0:compile
`;
  assert.deepEqual(parseFindings(output, { root: '/srv/project' }).findings, [
    { path: 'src/main/java/M.java', line: 12, column: 8, severity: 'error', message: 'cannot find symbol' },
    {
      path: 'src/main/java/M.java',
      line: 3,
      column: 1,
      severity: 'warning',
      code: 'deprecation',
      message: 'f() in A has been deprecated',
    },
  ]);
});

test('stack traces and progress of Java programs give nothing', () => {
  const output = `Exception in thread "main" java.lang.NullPointerException
	at app.M.main(M.java:5)
[INFO] BUILD SUCCESS
[ERROR] M.java: gone
`;
  assert.deepEqual(parseFindings(output).findings, []);
});
