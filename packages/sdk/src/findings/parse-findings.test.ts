import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { FINDING_SEVERITIES } from './command-finding.ts';
import { MAX_FINDINGS, parseFindings } from './parse-findings.ts';

/** Pieces that formats look for, so that random texts come near them. */
const PIECES = [
  'src/a.ts', 'a.go', 'b.py', 'M.java', '/srv/ws/x.c', '../up.rs', ':', '1', '12', '(1,2)', ': ', 'error', 'warning', 'TS2322',
  ' - ', '[Error/x]', ' --> ', 'error[E0308]', '━━━', '\n', '\r', '  ', ' lint/a/b', '  × ', ',-[', ']', '╭─[', '::error file=',
  '::', ',line=', 'Diff in ', ' at line ', 'File "', '", line ', 'SyntaxError', 'would reformat ', 'Checking formatting...',
  '[warn] ', '[ERROR] ', '\u001b[31m', '\u001b]8;;', '^', 'F401 ', 'line 1, col 2, Error - ', '%0A', '%',
]; // biome-ignore format: a list of pieces

describe('parseFindings', () => {
  test('keeps the order of the output and every finding once', () => {
    const output = 'b.c:2:1: error: two\na.c:1:1: error: one\nb.c:2:1: error: two\nb.c:2:1: warning: two\n';
    assert.deepEqual(
      parseFindings(output).findings.map(({ path, severity }) => `${path} ${severity}`),
      ['b.c error', 'a.c error', 'b.c warning'],
    );
  });

  test('reads several formats in one output', () => {
    const output = `src/a.ts(1,7): error TS2322: no\n\nsrc/b.js\n  1:2  error  bad  rule\n\nDiff in c.rs:4:\n./d.go:1:2: undefined: x\n`;
    assert.deepEqual(
      parseFindings(output).findings.map(({ path }) => path),
      ['src/a.ts', 'src/b.js', 'c.rs', 'd.go'],
    );
  });

  test('keeps 200 findings and says that there were more', () => {
    const lines = (count: number) => Array.from({ length: count }, (_, at) => `a.c:${at + 1}:1: error: no`).join('\n');
    const exact = parseFindings(lines(MAX_FINDINGS));
    assert.deepEqual([exact.findings.length, exact.truncated], [200, false]);
    assert.equal(parseFindings(`${lines(MAX_FINDINGS)}\na.c:1:1: error: no`).truncated, false);
    const more = parseFindings(lines(MAX_FINDINGS + 1));
    assert.deepEqual([more.findings.length, more.truncated], [200, true]);
  });

  test('leaves out places that programs do not know, and cuts long messages', () => {
    const [finding] = parseFindings(`a.c:0:4: error: ${'x'.repeat(3000)}`).findings;
    assert.deepEqual([finding?.line, finding?.column, finding?.message.length], [undefined, undefined, 1000]);
  });

  test('gives nothing for ordinary prose and logs', () => {
    const output = `Everything is fine. See README.md for more: 3 errors were fixed.
[2024-05-01T10:30:15.123Z] INFO request finished in 12 ms
2024-05-01 10:30:15,123 ERROR app.db: connection lost (attempt 2:3)
at Object.<anonymous> (src/a.ts:10:5)
    at src/a.ts:10:5
warning: LF will be replaced by CRLF in a.ts
> app@1.0.0 build
> tsc -p .
added 12 packages in 3s
error Command failed with exit code 1.
https://example.org:8080/a.ts: not found
`;
    assert.deepEqual(parseFindings(output), { findings: [], truncated: false });
  });

  test('never throws, and whatever it finds has the promised shape (deep)', () => {
    const near = fc.array(fc.constantFrom(...PIECES), { maxLength: 40 }).map((pieces) => pieces.join(''));
    const text = fc.oneof({ weight: 3, arbitrary: near }, fc.string({ unit: 'binary', maxLength: 300 }));
    fc.assert(
      fc.property(text, (output) => {
        for (const finding of parseFindings(output, { root: '/srv/ws' }).findings) {
          assert.ok(!finding.path.startsWith('/') && !finding.path.split('/').includes('..'));
          assert.ok(finding.line === undefined || finding.line >= 1);
          assert.ok(finding.column === undefined || (finding.line !== undefined && finding.column >= 1));
          assert.ok(FINDING_SEVERITIES.includes(finding.severity));
          assert.match(finding.message, /^\S.*$/);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
