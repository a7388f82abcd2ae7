import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Gate, withGate } from '../../test/gate-probe.ts';
import type { GitVerb } from '../contracts/git.ts';

const FILES = { 'a.txt': 'one\n', 'b.txt': 'one\n' };
const GUARDED: readonly GitVerb[] = ['commit', 'push', 'rebase', 'merge', 'checkout', 'pull'];
const STRICT = 'git: {require_clean_tree_for_commit: true}';
const EXEMPT: readonly GitVerb[] = ['add', 'restore', 'stash', 'fetch', 'branch', 'abort', 'recover'];

async function reasons(gate: Gate, verb: GitVerb): Promise<string> {
  const { ok, error } = await gate.ask({ verb });
  return ok ? 'ok' : `${error?.code} ${error?.details?.['rule']} ${error?.details?.['reason']}`;
}

describe('sec.git.clean_tree [S0-62]', () => {
  test('lets every verb pass in a clean tree, untracked files notwithstanding [S0-62] (deep)', async () => {
    await withGate({ files: FILES }, async (gate) => {
      gate.repository.write({ 'new.txt': 'not git’s business\n' });
      for (const verb of [...GUARDED, ...EXEMPT]) assert.equal(await reasons(gate, verb), 'ok', verb);
    });
  });

  test('4.15 the strict form refuses guarded verbs while a tracked file has unstaged changes, and exempts the ones that clean it up [S0-16 S0-20 S0-62]', async () => {
    await withGate({ files: FILES, registry: STRICT }, async (gate) => {
      gate.repository.write({ 'a.txt': 'two\n' });
      for (const verb of GUARDED) {
        assert.equal(await reasons(gate, verb), 'E_POLICY sec.git.clean_tree unstaged', verb);
      }
      for (const verb of EXEMPT) assert.equal(await reasons(gate, verb), 'ok', verb);
      const { error } = await gate.ask();
      assert.equal(error?.message, 'Tracked files have changes that are not staged: a.txt');
      assert.equal(error?.details?.['next'], 'git_add them, git_restore them or git_stash');
      assert.deepEqual(error?.details?.['paths'], ['a.txt']);
    });
  });

  test('counts a deleted file, a changed mode and a file that is announced only [S0-62] (deep)', async () => {
    for (const harm of ['delete', 'mode', 'announce']) {
      await withGate({ files: FILES }, async (gate) => {
        if (harm === 'delete') gate.repository.write({ 'a.txt': null });
        if (harm === 'mode') gate.repository.write({ 'a.txt': { text: 'one\n', mode: 0o755 } });
        if (harm === 'announce') {
          gate.repository.write({ 'c.txt': 'x' });
          gate.repository.git('add', '--intent-to-add', 'c.txt');
        }
        assert.equal(await reasons(gate, 'merge'), 'E_POLICY sec.git.clean_tree unstaged', harm);
      });
    }
  });

  test('4.15 staged changes are for commit and push; verbs that replace files refuse them', async () => {
    await withGate({ files: FILES }, async (gate) => {
      gate.stage({ 'a.txt': 'two\n', 'c.txt': 'new\n' });
      assert.equal(await reasons(gate, 'commit'), 'ok');
      assert.equal(await reasons(gate, 'push'), 'ok');
      for (const verb of ['rebase', 'merge', 'checkout', 'pull'] as const) {
        assert.equal(await reasons(gate, verb), 'E_POLICY sec.git.clean_tree staged', verb);
      }
    });
  });

  test('by default a commit or push leaves unstaged changes where they are; verbs that replace files refuse them [S0-20]', async () => {
    await withGate({ files: FILES }, async (gate) => {
      gate.stage({ 'b.txt': 'staged\n' });
      gate.repository.write({ 'a.txt': 'two\n' });
      assert.equal(await reasons(gate, 'commit'), 'ok');
      assert.equal(await reasons(gate, 'push'), 'ok');
      for (const verb of ['rebase', 'merge', 'checkout', 'pull'] as const) {
        assert.equal(await reasons(gate, verb), 'E_POLICY sec.git.clean_tree unstaged', verb);
      }
    });
  });

  test('4.15 unmerged files stop a commit whatever the registry says, until they are resolved', async () => {
    await withGate({ files: FILES, registry: 'git: {require_clean_tree_for_commit: false}' }, async (gate) => {
      const { repository } = gate;
      repository.git('checkout', '--quiet', '-b', 'other');
      repository.commit({ 'a.txt': 'theirs\n' });
      repository.git('checkout', '--quiet', 'main');
      repository.commit({ 'a.txt': 'ours\n' });
      assert.equal(repository.gitCode('merge', 'other'), 1);
      for (const verb of GUARDED) assert.match(await reasons(gate, verb), /unmerged$/, verb);
      gate.stage({ 'a.txt': 'both\n' });
      assert.equal(await reasons(gate, 'commit'), 'ok');
      assert.equal(await reasons(gate, 'merge'), 'E_POLICY sec.git.clean_tree staged');
    });
  });

  test('names a few of many files, oddly named ones on one line, and their number [S0-62]', async () => {
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`d/${at} “x”\n.txt`, 'one\n']));
    await withGate({ files: many }, async (gate) => {
      gate.repository.write(Object.fromEntries(Object.keys(many).map((name) => [name, 'two\n'])));
      const { error } = await gate.ask({ verb: 'merge' });
      assert.match(String(error?.message), /^[^\n]*, and \d+ more$/);
      assert.equal(error?.details?.['count'], 30);
      assert.equal(Object.keys(error?.details?.['paths'] ?? {}).length, 20);
    });
  });

  test('works before the first commit, and leaves a missing repository to the verb [S0-62]', async () => {
    await withGate({ registry: STRICT }, async (gate) => {
      gate.stage({ 'a.txt': 'one\n' });
      assert.equal(await reasons(gate, 'commit'), 'ok');
      gate.repository.write({ 'a.txt': 'two\n' });
      assert.match(await reasons(gate, 'commit'), /unstaged$/);
      gate.repository.write({ '.git': null });
      assert.equal((await gate.ask()).error?.code, 'E_GIT');
    });
  });

  test('4.12 no registry weakens it', async () => {
    const registry = 'validators: [{rule: sec.git.clean_tree, enforcement: warning}]';
    await assert.rejects(
      withGate({ files: FILES, registry }, async () => {}),
      /cannot be weakened: sec\.git\.clean_tree/,
    );
  });
});
