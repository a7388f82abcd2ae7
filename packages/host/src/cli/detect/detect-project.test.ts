import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { detectProject } from './detect-project.ts';
import type { DetectedProject, ProjectReader } from './detected-project.ts';

type Files = Readonly<Record<string, string>>;

interface Sample {
  readonly files: Files;
  readonly expected: Omit<DetectedProject, 'shellAllow' | 'scripts'>;
}

const samples = JSON.parse(readFileSync(new URL('fixtures/projects.json', import.meta.url), 'utf8')) as Readonly<
  Record<string, Sample>
>;

function inMemory(files: Files): ProjectReader {
  const names = Object.keys(files);
  return {
    read: (path) => (Object.hasOwn(files, path) ? files[path] : undefined),
    exists: (path) => names.some((name) => name === path || name.startsWith(`${path}/`)),
    list: (path) => {
      const below = names.filter((name) => path === '' || name.startsWith(`${path}/`));
      return [...new Set(below.map((name) => name.slice(path === '' ? 0 : path.length + 1).split('/')[0] ?? ''))];
    },
  };
}

function commandsOf(files: Files): DetectedProject['commands'] {
  return detectProject(inMemory(files)).commands;
}

function scripts(table: Files): Files {
  return { 'package.json': JSON.stringify({ scripts: table }) };
}

describe('detectProject', () => {
  for (const [name, { files, expected }] of Object.entries(samples)) {
    test(`knows ${name}`, () => {
      const { shellAllow, scripts, ...detected } = detectProject(inMemory(files));
      assert.deepEqual(detected, expected);
      const single = Object.values(expected.commands).flatMap((command) => command.split(/ (?:&&|\|) /));
      const isOpen = (command: string) => scripts.some((script) => `${command} `.startsWith(`${script} `));
      assert.deepEqual(
        shellAllow.map((pattern) => pattern.replace(/^\^|(?:\( \.\*\)\?)?\$$/g, '').replaceAll('\\', '')).sort(),
        [...new Set([...single.filter((command) => !isOpen(command)), ...scripts])].sort(),
      );
    });
  }

  test('lists every script and target of the project, to be called with arguments', () => {
    const scripts = JSON.stringify({ scripts: { test: 'x', 'lint:fix': 'x', 'a b': 'x', $evil: 'x', docs: 'x' } });
    const makefile = 'all: lib.o\n\tcc\ncheck lint:\n\tx\nlib.o: lib.c\n\tcc\n.PHONY: all\n';
    const found = detectProject(inMemory({ 'package.json': scripts, Makefile: makefile }));
    const expected = ['npm test', 'npm run lint:fix', 'npm run docs', 'make all', 'make check', 'make lint'];
    assert.deepEqual(found.scripts, expected);
    const patterns = found.shellAllow.map((pattern) => new RegExp(pattern));
    const allows = (line: string) => patterns.some((pattern) => pattern.test(line));
    for (const script of expected) assert.ok(allows(script) && allows(`${script} -- x`) && !allows(`${script}x`));
  });

  test('takes the manager from packageManager before any lockfile, and npm when nothing says', () => {
    const manager = (files: Files) => detectProject(inMemory(files)).packageManager;
    assert.equal(manager({ 'package.json': '{"packageManager":"yarn@4.1.0"}', 'pnpm-lock.yaml': '' }), 'yarn');
    assert.equal(manager({ 'package.json': '{"packageManager":"rm -rf@1"}', 'bun.lockb': '' }), 'bun');
    assert.equal(manager({ 'package.json': '{}' }), 'npm');
  });

  test('takes no format command that rewrites, however it is wrapped', () => {
    for (const table of [
      { format: 'prettier --write .' },
      { format: 'prettier .' },
      { 'format:check': 'npm run format -- --check', format: 'prettier --write .' },
      { 'format:check': 'npm-run-all fix:*', 'fix:all': 'eslint --fix .' },
      { 'format:check': 'prettier --check .', 'preformat:check': 'black .' },
      { fmt: 'biome format --write .' },
      { fmt: 'dprint fmt' },
    ]) {
      assert.equal(commandsOf(scripts(table)).fmt, undefined, JSON.stringify(table));
    }
    for (const table of [
      { format: 'prettier --check .' },
      { fmt: 'biome format .' },
      { 'format:check': 'run-s check:*', 'check:all': 'prettier -c .' },
    ]) {
      assert.match(commandsOf(scripts(table)).fmt ?? '', /^npm run (?:format|fmt)/, JSON.stringify(table));
    }
  });

  test('takes no script that never ends', () => {
    assert.deepEqual(commandsOf(scripts({ build: 'tsc -w', test: 'jest --watchAll', lint: 'eslint --watch .' })), {});
    assert.deepEqual(commandsOf(scripts({ test: 'jest --watchAll=false' })), { test: 'npm test' });
  });

  test('follows the prerequisites of a make target', () => {
    const lint = (text: string) => commandsOf({ Makefile: text }).lint;
    assert.equal(lint('lint: tidy\n\tgolint\ntidy:\n\tgofmt -w .\n'), undefined);
    assert.equal(lint('lint:\n\t$(MAKE) tidy\ntidy:\n\tgofmt -w .\n'), undefined);
    assert.equal(lint('lint: tidy\n\tgolint\ntidy:\n\tgofmt -l .\n'), 'make lint');
    assert.equal(lint('lint := yes\nlint?=no\n'), undefined);
  });

  test('joins the commands of folders only below a root that is no project, and only of a few', () => {
    const below = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}/go.mod`, 'module p']));
    assert.equal(commandsOf(below(2)).build, 'go -C p0 build ./... && go -C p1 build ./...');
    assert.deepEqual(commandsOf(below(11)), {});
    assert.equal(commandsOf({ ...below(2), 'package.json': '{"scripts":{"build":"x"}}' }).build, 'npm run build');
  });

  test('finds the default branch in packed refs, and none in a linked work tree', () => {
    const gitOf = (files: Files) => detectProject(inMemory(files)).git;
    const head = { '.git/HEAD': 'ref: refs/heads/topic\n' };
    assert.deepEqual(gitOf({ ...head, '.git/packed-refs': '# pack\n0a refs/heads/main\n0b refs/heads/topic\n' }), {
      defaultBranch: 'main',
    });
    assert.deepEqual(gitOf({ '.git/HEAD': 'ref: refs/heads/fresh\n' }), { defaultBranch: 'fresh' });
    assert.deepEqual(gitOf({ ...head, '.git/refs/heads/other': '0', '.git/refs/heads/topic': '0' }), {});
    assert.deepEqual(gitOf({ '.git': 'gitdir: ../elsewhere\n' }), {});
    assert.deepEqual(gitOf({ '.git/HEAD': 'ref: refs/heads/a{b,c}\n' }), {});
    assert.equal(gitOf({ 'a.txt': '' }), undefined);
  });

  test('never throws, and puts nothing a repository wrote into a command line (deep)', () => {
    const name = fc.constantFrom(
      'package.json', 'Cargo.toml', 'go.mod', 'go.work', 'pyproject.toml', 'pom.xml', 'build.gradle', 'Makefile', 'Gemfile',
      'composer.json', 'CMakeLists.txt', 'App.sln', '.git/HEAD', 'sub/package.json', 'evil;rm/go.mod', '$(x)/Makefile',
    ); // biome-ignore format: a list of names
    const evil = 'EVIL$(touch x);`y`';
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.constantFrom(
        `{"scripts":{"build":"${evil}","${evil}":"x","test":7,"lint":["${evil}"]},"packageManager":"${evil}@1"}`,
        '{"scripts":[],"__proto__":{"a":1}}', `${evil}:\n\t${evil}\nbuild: ${evil}\n`, `use ./${evil}\nuse ./a b\n`, '[]', 'null',
        `ref: refs/heads/${evil}\n`, '[workspace]\n[tool.poetry]\nblack',
      ), // biome-ignore format: a list of texts
    );
    fc.assert(
      fc.property(fc.dictionary(name, text, { maxKeys: 6 }), (files) => {
        const { commands, scripts, shellAllow, git } = detectProject(inMemory(files));
        for (const command of [...Object.values(commands), ...scripts])
          assert.match(command, /^[\w./:=@ -]+(?:(?: && | \| )[\w./:=@ -]+)*$/);
        for (const pattern of shellAllow) assert.match(pattern, /^\^.+\$$/);
        assert.match(git?.defaultBranch ?? 'none', /^[\w./-]+$/);
      }),
      { numRuns: 500 },
    );
  });
});
