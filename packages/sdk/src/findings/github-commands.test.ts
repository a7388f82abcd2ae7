import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFindings } from './parse-findings.ts';

test('a workflow command gives place, severity, code and message', () => {
  const output = [
    '::warning title=lint/correctness/noUnusedVariables,file=/srv/project/a.ts,line=1,endLine=1,col=7,endColumn=8::This variable x is unused.',
    '::error file=src/b.ts,line=3::`debugger` is not allowed',
    '::notice file=docs/c.md,title=Spelling mistake::colour',
  ].join('\n');
  assert.deepEqual(parseFindings(output, { root: '/srv/project' }).findings, [
    {
      path: 'a.ts',
      line: 1,
      column: 7,
      severity: 'warning',
      code: 'lint/correctness/noUnusedVariables',
      message: 'This variable x is unused.',
    },
    { path: 'src/b.ts', line: 3, severity: 'error', message: '`debugger` is not allowed' },
    { path: 'docs/c.md', severity: 'info', message: 'colour' },
  ]);
});

test('escapes of workflow commands are undone, in one line', () => {
  const output = '::error file=src/a%2Cb%3A1.ts,line=2,col=4::100%25 wrong%0D%0Asecond line';
  assert.deepEqual(parseFindings(output).findings, [
    { path: 'src/a,b:1.ts', line: 2, column: 4, severity: 'error', message: '100% wrong second line' },
  ]);
});

test('workflow commands without a file, and other commands, give nothing', () => {
  const output =
    '::error::It failed\n::group::Install\n::set-output name=file::a.ts\n::debug file=a.ts::x\nnamespace::error a.ts::b';
  assert.deepEqual(parseFindings(output).findings, []);
});
