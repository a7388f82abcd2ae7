import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failuresIn } from './output-text.ts';

const RUNNERS: Readonly<Record<string, readonly [output: string, rows: readonly string[]]>> = {
  'node:test, spec': ['▶ sums\n  ✔ adds (1ms)\n  ✖ subtracts (2.1ms)\nℹ fail 1\n', ['✖ subtracts (2.1ms)']],
  'node:test, TAP': ['TAP version 13\nok 1 - adds\nnot ok 2 - subtracts\n  ---\n', ['not ok 2 - subtracts']],
  jest: [
    'FAIL src/sum.test.js\n  ● sums › subtracts\n\n    expect(received)\n',
    ['FAIL src/sum.test.js', '● sums › subtracts'],
  ],
  vitest: [
    ' FAIL  src/sum.test.ts > sums > subtracts\nAssertionError: expected 1 to be 2\n ❯ src/sum.test.ts:3:1\n',
    ['FAIL  src/sum.test.ts > sums > subtracts'],
  ],
  mocha: ['  1 passing\n  1 failing\n\n  1) sums subtracts:\n     AssertionError\n', ['1) sums subtracts:']],
  pytest: [
    'E   assert 1 == 2\nFAILED tests/test_sum.py::test_sub - assert 1 == 2\n',
    ['E   assert 1 == 2', 'FAILED tests/test_sum.py::test_sub - assert 1 == 2'],
  ],
  go: ['=== RUN   TestSub\n--- FAIL: TestSub (0.00s)\nFAIL\n', ['--- FAIL: TestSub (0.00s)']],
  cargo: [
    "test sub ... FAILED\nthread 'sub' panicked at src/lib.rs:3:5:\n",
    ['test sub ... FAILED', "thread 'sub' panicked at src/lib.rs:3:5:"],
  ],
  tsc: [
    "src/a.ts(3,7): error TS2322: Type 'string' is not assignable to type 'number'.\n",
    ["src/a.ts:3:7: Type 'string' is not assignable to type 'number'. (TS2322)"],
  ],
  gcc: ['a.c:3:5: error: expected declaration\na.c:4:1: warning: unused\n', ['a.c:3:5: expected declaration']],
  'python traceback': [
    'Traceback (most recent call last):\n  File "main.py", line 9, in <module>\n    run()\n  File "app.py", line 2, in run\n    raise ValueError("no")\nValueError: no\n',
    ['ValueError: no File "app.py", line 2, in run'],
  ],
  'node stack': [
    'TypeError: x is not a function\n    at run (/w/app.js:2:3)\n    at main (/w/app.js:9:1)\n',
    ['TypeError: x is not a function at run (/w/app.js:2:3)'],
  ],
};

for (const [runner, [output, rows]] of Object.entries(RUNNERS)) {
  test(`${runner}: failures are found`, () => {
    const found = failuresIn(`${'noise ok\n'.repeat(50)}${output}${'more noise\n'.repeat(50)}`);
    for (const row of rows) assert.ok(found.includes(row), `${row} is not in ${JSON.stringify(found)}`);
  });
}

test('output without failures has none', () => {
  assert.deepEqual(failuresIn('✔ adds\nok 1 - adds\nPASS src/a.test.js\nBuild finished in 3 s\n'), []);
});
