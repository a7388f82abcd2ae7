import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { ToolError } from '@tool-runtime/protocol';
import { createRepository, type TestRepository } from '../../../../test/git-repository.ts';
import type { GitConfig, GitRepository } from '../../../contracts/git.ts';
import type { ImportedCommit } from './fast-import.ts';
import { importCommit } from './import-commit.ts';

type Content = ImportedCommit['entries'][number];

/** `git` as the tool has it, with a list of what was started. */
function reach(repository: TestRepository, settings: Readonly<Record<string, string>> = {}) {
  const started: string[] = [];
  const place = (name: string): string => join(repository.path('.git'), name);
  const git = {
    config: async () => ({ get: (key: string) => settings[key] }) as GitConfig,
    files: {
      async read(name: string) {
        try {
          return readFileSync(place(name));
        } catch {
          return undefined;
        }
      },
      async write(name: string, bytes: Uint8Array, options?: { readonly exclusive: boolean }) {
        mkdirSync(dirname(place(name)), { recursive: true });
        try {
          writeFileSync(place(name), bytes, { flag: options?.exclusive === true ? 'wx' : 'w' });
        } catch {
          throw new ToolError('E_FILE_IO', 'exists');
        }
      },
    },
    async run({ words, stdin }: { readonly words: readonly string[]; readonly stdin: Buffer }) {
      started.push(words[0] ?? '');
      repository.gitBytes([...words], stdin);
    },
  } as unknown as GitRepository;
  return { git, started };
}

const blob = (path: string, text: string, mode: '100644' | '100755' = '100644'): Content => ({
  path,
  mode,
  content: { bytes: Buffer.from(text) },
});

test('a small commit is the one fast-import makes, byte for byte, and starts nothing [S0-51]', async () => {
  const repository = createRepository();
  try {
    repository.commit({ a: '1', 'd/b': '2' });
    const [head, tree] = [repository.git('rev-parse', 'HEAD').trim(), repository.git('rev-parse', 'HEAD:d').trim()];
    const folder: Content = { path: 'index-tree', mode: '040000', content: { hash: tree } };
    const lists: (readonly Content[])[] = [
      [blob('manifest', ''), folder],
      [blob('manifest', 'x'), folder, blob('state/rebase-merge/done', 'd'), blob('state/MERGE_HEAD', head)],
      [blob('files/a b', '1', '100755'), blob('files/\xfc', '2'), blob('files.x', '3'), blob('files-x', '4')],
      [],
    ];
    for (const [at, entries] of lists.entries()) {
      for (const parents of [[], [head]]) {
        const commit = { time: 1_700_000_000 + at, message: `Recovery\n\nü ${at}\n`, parents, entries };
        const { git, started } = reach(repository);
        await importCommit(git, { ...commit, ref: `refs/own/${at}-${parents.length}` });
        assert.deepEqual(started, []);
        const plain = reach(repository, { 'core.sharedrepository': 'group' });
        await importCommit(plain.git, { ...commit, ref: `refs/git/${at}-${parents.length}` });
        assert.deepEqual(plain.started, ['fast-import']);
        const [own, theirs] = ['own', 'git'].map((name) =>
          repository.git('rev-parse', `refs/${name}/${at}-${parents.length}`),
        );
        assert.equal(own, theirs, `list ${at}`);
      }
    }
    repository.git('fsck', '--strict');
  } finally {
    repository.dispose();
  }
});

test('what is large, or kept in another way, or not to be written as a file is left to git [S0-51]', async () => {
  const repository = createRepository();
  try {
    const cases: readonly [readonly Content[], Readonly<Record<string, string>>][] = [
      [[blob('index', 'x'.repeat(100_000))], {}],
      [Array.from({ length: 20 }, (_, at) => blob(`staged/${at}`, String(at))), {}],
      [[blob('manifest', '')], { 'extensions.refstorage': 'reftable' }],
      [[blob('manifest', '')], { 'core.logallrefupdates': 'always' }],
      [[blob('twice', '1'), blob('twice', '2')], {}],
    ];
    for (const [at, [entries, settings]] of cases.entries()) {
      const { git, started } = reach(repository, settings);
      await importCommit(git, { ref: `refs/own/${at}`, time: 1, message: 'm', parents: [], entries });
      assert.deepEqual(started, ['fast-import'], `case ${at}`);
    }
    writeFileSync(join(repository.path('.git'), 'refs', 'own', 'taken'), 'no hash\n');
    const { git, started } = reach(repository);
    const onto = { ref: 'refs/own/taken', time: 1, message: 'm', parents: [], entries: [blob('manifest', '')] };
    await importCommit(git, onto).catch(() => undefined);
    assert.deepEqual(started, ['fast-import'], 'a reference that is there is not replaced');
  } finally {
    repository.dispose();
  }
});
