/** Stand-ins take the place of formatters, and print what they were started with: what they do to text is theirs. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { createCommandRunner, createWorkspace, openRoot } from '@tool-runtime/sdk/testing';
import { createBuildCheck } from './build-command.ts';
import { createCodeFormatter } from './code-formatter.ts';

interface Setting {
  format(
    path: string,
    language: string,
    commands?: Readonly<Record<string, string>>,
    text?: string,
  ): Promise<string | undefined>;
  build(
    paths: Readonly<Record<string, string>>,
    registry: { commands?: Readonly<Record<string, string>>; allow?: string },
  ): Promise<string | undefined>;
}

const PROGRAMS = ['rustfmt', 'biome', 'ruff', 'black', 'clang-format', 'shfmt', 'house', 'tsc', 'cargo'];

function open(t: TestContext, files: Readonly<Record<string, string>>): Setting {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'formatter-')));
  const [root, state, bin] = [join(scratch, 'workspace'), join(scratch, 'state'), join(scratch, 'bin')];
  for (const folder of [root, state, bin]) mkdirSync(folder, { mode: 0o700 });
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  for (const name of PROGRAMS) {
    writeFileSync(join(bin, name), `#!/bin/sh\necho "${name} $*"\ncat\n`, { mode: 0o755 });
  }
  const options = { workspace: root, state, isolation: 'none', allowedDomains: [], programFolders: [bin] } as const;
  const commands = createCommandRunner(options);
  const folder = openRoot(root);
  const workspace = createWorkspace(folder);
  t.after(async () => {
    await commands.close();
    workspace.close();
    folder.close();
    rmSync(scratch, { recursive: true, force: true });
  });
  const redact = (text: string) => text;
  return {
    async format(path, language, named = {}, text = 'text\n') {
      const formatter = createCodeFormatter({ commands, workspace, registry: { commands: named }, redact });
      if ((await formatter.formatterOf(path, language)) === undefined) return undefined;
      return Buffer.from(await formatter.format({ path, language, bytes: Buffer.from(text) })).toString('utf8');
    },
    async build(paths, { commands: named = {}, allow = '' }) {
      const pattern = { source: allow, test: (line: string) => allow !== '' && new RegExp(allow).test(line) };
      const check = createBuildCheck({
        commands,
        redact,
        registry: { commands: named, shellAllow: [pattern] },
        languageOf: (path) => paths[path],
      });
      return (await check.check({ paths: Object.keys(paths) }))?.output;
    },
  };
}

describe('formatting [S0-54]', () => {
  test("the registry's command comes first, for the language and for all, with the file as its last word", async (t) => {
    const { format } = open(t, { 'biome.json': '{}' });
    const all = { format: 'house --all', 'format.python': 'house --python' };
    assert.equal(await format('src/a.ts', 'typescript', all), 'house --all src/a.ts\ntext\n');
    assert.equal(await format('a.py', 'python', all), 'house --python a.py\ntext\n');
    assert.equal(await format('with space.ts', 'typescript', all), 'house --all with space.ts\ntext\n');
  });

  test('a project that has settings for a formatter is formatted by it, wherever above the file they lie', async (t) => {
    const { format } = open(t, {
      'web/biome.json': '{}',
      'ruffed/pyproject.toml': '[tool.ruff]\nline-length = 100\n',
      'blackened/pyproject.toml': '[tool.black]\n',
      'plain/pyproject.toml': '[project]\n',
      'native/.clang-format': 'BasedOnStyle: LLVM\n',
      'shell/.editorconfig': 'root = true\n',
    });
    const lines = await Promise.all([
      format('web/src/a.ts', 'typescript'),
      format('other/a.ts', 'typescript'),
      format('ruffed/a.py', 'python'),
      format('blackened/a.py', 'python'),
      format('plain/a.py', 'python'),
      format('native/a.cpp', 'cpp'),
      format('other/a.cpp', 'cpp'),
      format('shell/a.sh', 'bash'),
    ]);
    assert.deepEqual(
      lines.map((text) => text?.split('\n')[0]),
      [
        'biome format --stdin-file-path=web/src/a.ts',
        undefined,
        'ruff format --quiet --stdin-filename=ruffed/a.py -',
        'black --quiet --stdin-filename=blackened/a.py -',
        undefined,
        'clang-format --assume-filename=native/a.cpp',
        undefined,
        'shfmt --filename=shell/a.sh',
      ],
    );
  });

  test('languages with one form need no settings; Rust has it by edition', async (t) => {
    const { format } = open(t, { 'old/Cargo.toml': '[package]\nedition = "2018"\n' });
    // The real one, which the tests of language servers bring along.
    assert.equal(await format('a.go', 'go', {}, 'package a\nfunc  f( ){}\n'), 'package a\n\nfunc f() {}\n');
    assert.match(String(await format('old/src/a.rs', 'rust')), /^rustfmt --edition 2018 /);
    assert.match(String(await format('new/src/a.rs', 'rust')), /^rustfmt --edition 2021 /);
  });
});

describe('build check [S0-54]', () => {
  test("asks the registry: the language's command, else the project's", async (t) => {
    const { build } = open(t, {});
    const commands = { build: 'house all', 'build.rust': 'house rust' };
    assert.equal(await build({ 'a.rs': 'rust' }, { commands }), 'house rust');
    assert.equal(await build({ 'a.ts': 'typescript' }, { commands }), 'house all');
    assert.equal(await build({ 'a.ts': 'typescript' }, {}), undefined);
  });

  test("runs what a language's profile proposes only where shell_allow lets it pass", async (t) => {
    const { build } = open(t, {});
    assert.equal(await build({ 'a.ts': 'typescript' }, { allow: '^tsc --noEmit$' }), 'tsc --noEmit');
    assert.equal(await build({ 'a.ts': 'typescript' }, { allow: '^cargo' }), undefined);
    assert.equal(await build({ 'a.rs': 'rust' }, { allow: '^cargo' }), 'cargo check --offline');
  });
});
