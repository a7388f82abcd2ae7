import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FULL_RESULT } from '../../../test/sample-result.ts';
import type { RunHistory, RunStatus } from '../../contracts/external.ts';
import { checkDependencies, formatDependencyErrors } from './dependencies.ts';

const runId = (day: number) => `2026-01-0${day}T00-00-00-000000Z-000000`;

/** Runs of one tool, newest last, and the files that are there; every tool and path asked for is noted. */
function history(runs: readonly (RunStatus | 'broken')[], files: readonly string[] = []) {
  const asked: string[] = [];
  const tools: string[] = [];
  const port: RunHistory = {
    runsOf(tool) {
      tools.push(tool);
      return tool === 'index' ? runs.map((_, at) => runId(at + 1)).reverse() : [];
    },
    readResult(_tool, id) {
      const status = runs[Number(id.slice(8, 10)) - 1];
      return status === 'broken' ? Buffer.from('{') : Buffer.from(JSON.stringify({ ...FULL_RESULT, status }));
    },
    hasOutput(parts) {
      asked.push(parts.join('/'));
      return files.includes(parts.join('/'));
    },
  };
  return { port, asked, tools };
}

const needs = (tools: string[], outputs: string[] = []) => ({ requires_tools: tools, requires_outputs: outputs });

test('nothing is missing when nothing is known, nothing is needed, or there is no pack [S4-36]', () => {
  assert.deepEqual(checkDependencies(undefined, history([]).port), []);
  assert.deepEqual(checkDependencies(needs([]), history([]).port), []);
  assert.deepEqual(checkDependencies(needs(['index'], ['index/outputs/a']), undefined), []);
});

test('a needed tool needs one run that ended in success [S4-36]', () => {
  const missing = [{ tool: 'index' }];
  const cases: readonly (readonly [readonly (RunStatus | 'broken')[], unknown])[] = [
    [[], missing],
    [['failure'], missing],
    [['partial'], missing],
    [['broken'], missing],
    [['success'], []],
    [['success', 'failure'], []],
    [['broken', 'success', 'partial'], []],
  ];
  for (const [runs, expected] of cases) {
    assert.deepEqual(checkDependencies(needs(['index']), history(runs).port), expected, runs.join());
  }
});

test('an output is looked for in the newest successful run of its tool [S4-36]', () => {
  const output = 'index/outputs/vectors.json';
  const inside = (day: number) => `index/${runId(day)}/outputs/vectors.json`;
  const missing = [{ tool: 'index', output }];
  assert.deepEqual(checkDependencies(needs([], [output]), history(['success', 'failure'], [inside(1)]).port), []);
  assert.deepEqual(checkDependencies(needs([], [output]), history(['success', 'failure'], [inside(2)]).port), missing);
  assert.deepEqual(checkDependencies(needs([], [output]), history(['success', 'success'], [inside(1)]).port), missing);
  assert.deepEqual(checkDependencies(needs([], [output]), history([], [inside(1)]).port), missing);
});

test('the path as it is written counts too [S4-36]', () => {
  const output = 'index/outputs/vectors.json';
  assert.deepEqual(checkDependencies(needs([], [output]), history([], [output]).port), []);
});

test('a path that could lead elsewhere is missing and never asked for [S4-37]', () => {
  const outputs = [
    '../secret',
    'index/../../secret',
    'index/./a',
    '/etc/passwd',
    'index//a',
    'index/outputs/',
    'index\\..\\a',
    'C:/a',
    'index/a\0b',
    'Index/a',
    'index',
    '',
  ];
  const { port, asked, tools } = history(['success'], outputs);
  assert.deepEqual(
    checkDependencies(needs(['../index', ''], outputs), port).map(({ output, tool }) => output ?? tool),
    ['../index', '', ...outputs],
  );
  assert.deepEqual([asked, tools], [[], []]);
});

test('a missing output names the tool in its first part, when that is one [S4-36]', () => {
  const missing = checkDependencies(needs([], ['other/outputs/a', '../x/y']), history([]).port);
  assert.deepEqual(missing, [
    { tool: 'other', output: 'other/outputs/a' },
    { tool: '', output: '../x/y' },
  ]);
});

test('what is missing reads as one line [S4-38]', () => {
  const lines: readonly (readonly [Parameters<typeof formatDependencyErrors>[0], string])[] = [
    [[], ''],
    [[{ tool: 'index' }], 'Required tool has not run successfully: index'],
    [
      [
        { tool: 'index', output: 'index/a' },
        { tool: 'index', output: 'index/b' },
      ],
      'Required output of index not found: index/a, index/b',
    ],
    [[{ tool: 'b' }, { tool: 'a' }, { tool: 'b' }], 'Required tools have not run successfully: a, b'],
    [
      [{ tool: 'b' }, { tool: 'a', output: 'a/x' }],
      'Required tools have not run successfully: a, b; outputs not found: a/x',
    ],
    [[{ tool: '', output: '../x' }], 'Required outputs not found: ../x'],
  ];
  for (const [missing, line] of lines) assert.equal(formatDependencyErrors(missing), line);
});

test('a name cannot forge a second line [S4-38]', () => {
  assert.doesNotMatch(formatDependencyErrors([{ tool: 'a\nall is well' }, { tool: 'b', output: 'x\ny' }]), /\n/);
});
