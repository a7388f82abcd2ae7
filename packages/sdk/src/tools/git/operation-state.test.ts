import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { branchOf, commitsOf, isStateName, operationUnderWay } from './operation-state.ts';

const file = (name: string, text = '') => ({ name, bytes: Buffer.from(text) });
const HASH = 'a'.repeat(40);

test('only names of operation state are names of operation state [S0-51]', () => {
  for (const name of ['MERGE_HEAD', 'ORIG_HEAD', 'rebase-merge/done', 'sequencer/todo', 'rebase-merge/rewritten/x']) {
    assert.equal(isStateName(name), true, name);
  }
  for (const name of ['config', 'hooks/x', 'rebase-merge', 'rebase-merge/../config', 'rebase-merge//x', 'HEAD', '']) {
    assert.equal(isStateName(name), false, name);
  }
});

test('knows what is under way from the files git keeps [S0-51]', () => {
  const cases: readonly [string, readonly string[]][] = [
    ['merge', ['MERGE_HEAD', 'MERGE_MSG']],
    ['rebase', ['rebase-merge/done', 'CHERRY_PICK_HEAD']],
    ['rebase', ['rebase-apply/next']],
    ['cherry-pick', ['CHERRY_PICK_HEAD', 'sequencer/todo']],
    ['revert', ['REVERT_HEAD']],
  ];
  for (const [expected, names] of cases) assert.equal(operationUnderWay(names.map((name) => file(name))), expected);
  assert.equal(operationUnderWay([file('sequencer/todo', 'revert abc x\n')]), 'revert');
  assert.equal(operationUnderWay([file('sequencer/todo', 'pick abc x\n')]), 'cherry-pick');
  for (const names of [[], ['ORIG_HEAD'], ['rebase-apply/applying']]) {
    assert.throws(() => operationUnderWay(names.map((name) => file(name))), isToolError);
  }
});

test('finds the commits and the branch an operation needs, and nothing that only looks like it [S0-51]', () => {
  assert.deepEqual(commitsOf([file('MERGE_HEAD', `${HASH}\n${HASH}\n`), file('MERGE_MSG', HASH)]), [HASH, HASH]);
  assert.deepEqual(commitsOf([file('MERGE_HEAD', '--help\n'), file('CHERRY_PICK_HEAD', 'abc')]), []);
  const rebase = (name: string, tip: string) => [
    file('rebase-merge/head-name', name),
    file('rebase-merge/orig-head', tip),
  ];
  assert.deepEqual(branchOf(rebase('refs/heads/side\n', `${HASH}\n`)), { 'refs/heads/side': HASH });
  assert.deepEqual(branchOf(rebase('detached HEAD\n', `${HASH}\n`)), {});
  assert.deepEqual(branchOf(rebase('refs/heads/side\n', '--x')), {});
});
