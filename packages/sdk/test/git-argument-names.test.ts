/** Revisions, branches and what a push sends are called `ref` in every git tool; the names they had before still work. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AnyTool } from '../src/contracts/tool.ts';
import * as builtInTools from '../src/tools/catalog.ts';
import { withRepository } from './git-repository.ts';

const FORMER: Readonly<Record<string, readonly string[]>> = {
  git_checkout: ['target'],
  git_merge: ['branch'],
  git_rebase: ['onto'],
  git_push: ['refspec'],
  git_log: ['rev', 'revision'],
  git_show: ['rev', 'revision'],
  git_diff: ['rev', 'revision'],
  git_blame: ['rev', 'revision'],
};

test('every git tool that takes a revision takes it as ref, and by its former name [S0-43]', () => {
  for (const tool of Object.values(builtInTools as Record<string, AnyTool>)) {
    const former = FORMER[tool.name];
    if (former === undefined) continue;
    assert.ok('ref' in tool.args.shape, tool.name);
    const aliases = tool.annotations?.arg_schema?.arg_aliases ?? {};
    for (const name of former) assert.equal(aliases[name], 'ref', `${tool.name} ${name}`);
  }
});

test('a former name does the same, and naming both is refused [S0-43]', () =>
  withRepository({ files: { 'a.txt': 'one\n' } }, async (repository, runtime) => {
    repository.commit({ 'a.txt': 'two\n' }, 'second');
    const subjects = async (args: object) =>
      (await runtime.call<{ commits: { subject: string }[] }>('git_log', args)).commits.map(({ subject }) => subject);
    for (const name of ['ref', 'rev', 'revision'])
      assert.deepEqual(await subjects({ [name]: 'HEAD~1' }), ['chore: begin']);
    assert.equal((await runtime.refused('git_log', { ref: 'HEAD', rev: 'HEAD~1' })).code, 'E_VALIDATION_FAIL');
    const unknown = await runtime.refused('git_merge', { branch: 'nowhere' });
    assert.equal(unknown.path, 'ref');
  }));
