import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createRepository, openGitRuntime } from '../../test/git-repository.ts';
import type { AstIndex } from '../contracts/ast.ts';
import { openScratchRuntime } from '../testing/scratch-runtime.ts';

/** A parser that finds a problem wherever the text says so; it reads the file as it is on disk. */
function markerParser(workspace: () => string): AstIndex {
  return {
    covers: (path) => path.endsWith('.rs'),
    refresh: () => {},
    parseProblems: (path) =>
      readFileSync(join(workspace(), path), 'utf8').includes('BROKEN')
        ? [{ message: `Does not parse: ${path}`, path }]
        : [],
  };
}

const registry = (level: string) => ({
  file: 'r.yaml',
  text: `version: 1\nvalidators:\n  - rule: code.ast.parsed\n    enforcement: ${level}\n`,
});

async function scratchWith(level: string, options: { readonly hasParser: boolean }) {
  let root = '';
  const scratch = await openScratchRuntime({
    registry: registry(level),
    ...(options.hasParser ? { ast: markerParser(() => root) } : {}),
  });
  root = scratch.workspace;
  return scratch;
}

describe('code.ast.parsed [S0-63]', () => {
  test('4.20 section 6.16 a blocking failure restores bytes and mode, and is E_AST_PARSE naming the registry line', async () => {
    const scratch = await scratchWith('blocking', { hasParser: true });
    const file = join(scratch.workspace, 'a.rs');
    writeFileSync(file, 'fn main() {}\n', { mode: 0o640 });
    const response = await scratch.session.call('file_write', { path: 'a.rs', content: 'BROKEN', mode_octal: '0600' });
    assert.equal(response.errors[0]?.code, 'E_AST_PARSE');
    assert.equal(response.errors[0]?.details?.['rolled_back'], true);
    assert.equal(response.errors[0]?.details?.['registry'], 'r.yaml:3');
    assert.equal(readFileSync(file, 'utf8'), 'fn main() {}\n');
    assert.equal(statSync(file).mode & 0o777, 0o640);
    const created = await scratch.session.call('file_write', { path: 'new.rs', content: 'BROKEN' });
    assert.equal(created.errors[0]?.code, 'E_AST_PARSE');
    assert.equal(existsSync(join(scratch.workspace, 'new.rs')), false);
    assert.equal((await scratch.session.call('file_write', { path: 'a.rs', content: 'fn ok() {}' })).ok, true);
    await scratch.dispose();
  });

  test('a checkout is followed by the index and not judged: what others committed is not its doing [S0-63] (deep)', async () => {
    const repository = createRepository({ files: { 'a.rs': 'fn main() {}\n' } });
    repository.git('switch', '--quiet', '--create', 'broken');
    repository.commit({ 'a.rs': 'BROKEN\n' }, 'feat: broken');
    repository.git('switch', '--quiet', 'main');
    const followed: string[] = [];
    const parser = markerParser(() => repository.folder);
    const ast: AstIndex = { ...parser, refresh: (changes) => void followed.push(...changes.map(({ path }) => path)) };
    const runtime = await openGitRuntime(repository, { ast, registry: registry('blocking').text });
    try {
      await runtime.call('git_checkout', { target: 'broken' });
      assert.deepEqual(followed, ['a.rs']);
      assert.equal(readFileSync(repository.path('a.rs'), 'utf8'), 'BROKEN\n');
      assert.equal(
        (await runtime.refused('file_write', { path: 'a.rs', content: 'BROKEN again' })).code,
        'E_AST_PARSE',
      );
    } finally {
      await runtime.dispose();
      repository.dispose();
    }
  });

  test('4.20 at warning level the write stays and the answer carries the warning [S0-72]', async () => {
    const scratch = await scratchWith('warning', { hasParser: true });
    const response = await scratch.session.call('file_write', { path: 'a.rs', content: 'BROKEN' });
    assert.equal(response.ok, true);
    assert.equal(response.warnings[0]?.details?.['rule'], 'code.ast.parsed');
    assert.equal(readFileSync(join(scratch.workspace, 'a.rs'), 'utf8'), 'BROKEN');
    await scratch.dispose();
  });

  test('without a parser a blocking rule fails closed for source files and leaves other files alone', async () => {
    const scratch = await scratchWith('blocking', { hasParser: false });
    const source = await scratch.session.call('file_write', { path: 'a.rs', content: 'fn main() {}' });
    assert.equal(source.errors[0]?.code, 'E_AST_PARSE');
    assert.equal(existsSync(join(scratch.workspace, 'a.rs')), false);
    assert.equal((await scratch.session.call('file_write', { path: 'notes.txt', content: 'x' })).ok, true);
    await scratch.dispose();
  });
});
