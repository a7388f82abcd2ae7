import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GitRemote, GitRepository, GitRun } from '../../contracts/git.ts';
import { lookOnly, withoutRemotes } from './git-view.ts';

const REMOTE: GitRemote = {
  name: 'origin',
  alias: 'x',
  url: 'https://x.test/',
  transport: 'http',
  options: [],
  env: {},
};

/** Remembers what reaches it. */
function watchedGit(): { readonly git: GitRepository; readonly reached: string[] } {
  const reached: string[] = [];
  const reach =
    <T>(what: string, answer: T) =>
    async (): Promise<T> => {
      reached.push(what);
      return answer;
    };
  return {
    reached,
    git: {
      run: async ({ words, access, remote }: GitRun) => {
        reached.push(`${words.join(' ')} ${access}${remote === undefined ? '' : ' remote'}`);
        return { code: 0, stdout: Buffer.alloc(0), stderr: '' };
      },
      config: reach('config', {} as never),
      identity: reach('identity', {} as never),
      operatorConfig: reach('operatorConfig', {} as never),
      remote: reach('remote', REMOTE),
      requireChangeable: reach('requireChangeable', undefined),
      files: {
        read: reach('files.read', undefined),
        list: reach('files.list', []),
        write: reach('files.write', undefined),
        replace: reach('files.replace', undefined),
        remove: reach('files.remove', undefined),
      },
    },
  };
}

const refused = { code: 'E_POLICY', message: /^This call may not / };

test('a git to look with reads and nothing else [S0-34]', async () => {
  const { git, reached } = watchedGit();
  const view = lookOnly(git);
  for (const attempt of [
    () => view.run({ words: ['tag', 'x'], access: 'write' }),
    () => view.run({ words: ['fetch'], access: 'read', remote: REMOTE }),
    () => view.remote('origin', 'fetch'),
    () => view.files.write('MERGE_MSG', new Uint8Array()),
    () => view.files.replace('a', new Uint8Array()),
    () => view.files.remove('a'),
  ]) {
    await assert.rejects(attempt(), refused);
  }
  assert.deepEqual(reached, []);
  await view.run({ words: ['status'], access: 'read' });
  await view.files.read('MERGE_MSG');
  await view.files.list('hooks');
  await view.config();
  await view.identity();
  assert.deepEqual(reached, ['status read', 'files.read', 'files.list', 'config', 'identity']);
});

test('a git without remotes changes the repository and contacts no host [S0-34]', async () => {
  const { git, reached } = watchedGit();
  const view = withoutRemotes(git);
  await assert.rejects(view.run({ words: ['push'], access: 'write', remote: REMOTE }), refused);
  await assert.rejects(view.remote('origin', 'push'), refused);
  assert.deepEqual(reached, []);
  await view.run({ words: ['tag', 'x'], access: 'write' });
  await view.files.write('MERGE_MSG', new Uint8Array());
  assert.deepEqual(reached, ['tag x write', 'files.write']);
});
