import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFindings } from './parse-findings.ts';

test('go build and go vet give their findings', () => {
  const output = `# example.org/app
./main.go:3:5: undefined: x
pkg/b.go:10:2: "os" imported and not used
vet: ./c.go:7:9: cannot use 1 (untyped int constant) as string value
`;
  assert.deepEqual(parseFindings(output).findings, [
    { path: 'main.go', line: 3, column: 5, severity: 'error', message: 'undefined: x' },
    { path: 'pkg/b.go', line: 10, column: 2, severity: 'error', message: '"os" imported and not used' },
    {
      path: 'c.go',
      line: 7,
      column: 9,
      severity: 'error',
      message: 'cannot use 1 (untyped int constant) as string value',
    },
  ]);
});

test('gofmt -l gives the files it names', () => {
  const message = 'File is not formatted as gofmt would';
  assert.deepEqual(parseFindings('main.go\npkg/b.go\n').findings, [
    { path: 'main.go', severity: 'error', code: 'format', message },
    { path: 'pkg/b.go', severity: 'error', code: 'format', message },
  ]);
});

test('log lines and test reports of Go programs give nothing', () => {
  const output = `2024/05/01 10:30:15 main.go:12: listening on :8080
main.go:12: listening on :8080
--- FAIL: TestSum (0.00s)
    sum_test.go:9: got 3, want 4
ok  	example.org/app	0.003s
wrote main.go
`;
  assert.deepEqual(parseFindings(output).findings, []);
});
