import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ChangeSet } from '../contracts/git.ts';
import { defineRule, type RuleContext, type Violation } from '../contracts/rule.ts';
import { compileRules } from '../policy/rule-set.ts';
import { defaultRegistry } from '../registry/build-registry.ts';
import { runValidation } from './run-validation.ts';

const changes: ChangeSet = {
  scope: 'staged',
  branch: 'main',
  message: undefined,
  base: 'aaaa',
  tree: 'bbbb',
  tip: undefined,
  files: [{ path: 'a.txt', kind: 'modified', mode: '100644', blob: 'cccc' }],
  contents: async function* () {},
  addedLines: async () => [],
  passing: async () => [],
  worktreeDifferences: async () => [],
};

/** Runs one rule over the sets, one after the other, with one cache, and answers what was found each time. */
async function findingsOf(check: () => readonly Violation[], sets: readonly ChangeSet[]) {
  const rule = defineRule({
    id: 'a.rule',
    category: 'test',
    description: 'test',
    phase: 'on-commit',
    trigger: 'on commit',
    defaultEnforcement: 'blocking',
    byContent: true,
    appliesTo: () => true,
    check,
  });
  const registry = defaultRegistry();
  const kept = new Map<string, string>();
  const cache = { get: (key: string) => kept.get(key), set: (key: string, value: string) => void kept.set(key, value) };
  const reports = [];
  for (const set of sets) {
    const context = () => ({ registry, cache, changeSet: async () => set }) as unknown as RuleContext;
    const request = { rules: ['a.rule'], scope: set.scope, signal: new AbortController().signal } as const;
    const parts = { rules: compileRules([rule], registry), context, hasAst: false };
    reports.push((await runValidation(request, set, parts)).violations.map(({ message }) => message));
  }
  return reports;
}

describe('a rule that judges contents alone', () => {
  test('is not run again over equal contents, and its findings stay the same [S0-57]', async () => {
    let runs = 0;
    const check = () => [{ message: `run ${++runs}` }];
    assert.deepEqual(await findingsOf(check, [changes, changes]), [['run 1'], ['run 1']]);
  });

  test('is run again when content, branch, message or what the changes stand on differ [S0-57]', async () => {
    let runs = 0;
    const others: readonly Partial<ChangeSet>[] = [
      {},
      { base: 'dddd' },
      { tip: 'eeee' },
      { branch: 'other' },
      { message: 'x' },
      { scope: 'head' },
      { files: [{ path: 'a.txt', kind: 'modified', mode: '100644', blob: 'eeee' }] },
    ];
    await findingsOf(
      () => [{ message: `run ${++runs}` }],
      others.map((other) => ({ ...changes, ...other })),
    );
    assert.equal(runs, others.length);
  });

  test('is asked again after it could not be checked: a failure says nothing about the contents [S0-57]', async () => {
    let runs = 0;
    const check = () => {
      runs++;
      if (runs === 1) throw new TypeError('no disk');
      return [];
    };
    assert.deepEqual(await findingsOf(check, [changes, changes]), [['Rule could not be checked: no disk'], []]);
  });
});
