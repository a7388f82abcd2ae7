import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { openRoot } from '../descriptors/root.ts';
import { createFileTree } from './file-tree.ts';
import { ignoreSubject, parseGitIgnore } from './git-ignore.ts';

const NO_CONFIGURATION = {
  PATH: process.env['PATH'] ?? '/usr/bin:/bin',
  HOME: '/nonexistent',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
};

type Tree = Readonly<Record<string, string>>;

/** A repository with these files; a name that cannot be made because another one is in its way is left out. */
async function inRepository<T>(tree: Tree, action: (directory: string) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'git-ignore-'));
  try {
    execFileSync('git', ['init', '-q', directory], { env: NO_CONFIGURATION });
    for (const [path, content] of Object.entries(tree)) {
      try {
        mkdirSync(dirname(join(directory, path)), { recursive: true });
        writeFileSync(join(directory, path), content);
      } catch {
        // `a` is a file already, so there is no `a/b`.
      }
    }
    return await action(directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function listedByGit(directory: string): string[] {
  const output = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
    cwd: directory,
    env: NO_CONFIGURATION,
  });
  return [...new Set(output.toString('utf8').split('\0').filter(Boolean))].sort();
}

async function listedByUs(directory: string): Promise<readonly string[]> {
  const root = openRoot(directory);
  const { paths } = await createFileTree(root).list({
    globs: [],
    includeHidden: true,
    includeIgnored: false,
    maxResults: 100_000,
  });
  root.close();
  return paths;
}

async function assertAgrees(tree: Tree): Promise<readonly string[]> {
  return inRepository(tree, async (directory) => {
    const ours = await listedByUs(directory);
    assert.deepEqual(ours, listedByGit(directory));
    return ours;
  });
}

const name = fc.constantFrom(
  'a',
  'b',
  'ab',
  'foo',
  'bar',
  'a.b',
  'b.o',
  'a b',
  'é',
  '-',
  'x[',
  'foobar',
  'a ',
  '.h',
  'A',
);
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
const piece = fc.constantFrom(
  ...['a', 'b', 'foo', 'bar', '*', '*', '**', '?', '/', '/', '[ab]', '[!a]', '[a-f]', '[[:alpha:]]', '.o', '.'],
  ...['\\', '\\*', ' ', 'é', 'o', '[', '-', ']', '[]a]', '[^/]', '!', '[x-', '\t', 'a**/', '**/**', '*/**', '#'],
);
const line = fc
  .tuple(fc.constantFrom('', '', '', '!'), fc.array(piece, { maxLength: 5 }), fc.constantFrom('', '', ' ', '/', '\r'))
  .map(([sign, pieces, end]) => sign + pieces.join('') + end);
const ignoreText = fc
  .tuple(fc.array(line, { minLength: 1, maxLength: 5 }), fc.constantFrom('', '\n', '\ufeff'))
  .map(([lines, extra]) => (extra === '\ufeff' ? extra + lines.join('\n') : lines.join('\n') + extra));

test('agrees with git about every ignore file, however it is written [S0-26] (deep)', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(path, { minLength: 4, maxLength: 14 }),
      ignoreText,
      fc.array(fc.tuple(path, ignoreText), { maxLength: 3 }),
      fc.option(ignoreText),
      async (files, atRoot, below, exclude) => {
        await assertAgrees({
          ...Object.fromEntries(files.map((file) => [file, ''])),
          '.gitignore': atRoot,
          ...Object.fromEntries(below.map(([folder, text]) => [`${folder}/.gitignore`, text])),
          ...(exclude === null ? {} : { '.git/info/exclude': exclude }),
        });
      },
    ),
    { numRuns: 120 },
  );
});

test('knows anchors, folders, re-inclusion, escapes, spaces and classes as git does [S0-26]', async () => {
  const listed = await assertAgrees({
    '.gitignore':
      '# comment\n/top.txt\n*.log\n!keep.log\nbuild/\ndocs/**/*.tmp\n\\#hash\n\\!bang\ntrail\\ \nspace  \r\n[Bb]in\n/deep/*/x\nfoo**bar\n',
    'top.txt': '',
    'sub/top.txt': '',
    'a.log': '',
    'sub/keep.log': '',
    'build/x': '',
    'sub/build/keep.log': '',
    'sub/buildfile/build': '',
    'docs/a/b/c.tmp': '',
    'docs/c.tmp': '',
    '#hash': '',
    '!bang': '',
    'trail ': '',
    trail: '',
    space: '',
    'Bin/x': '',
    'bin2/x': '',
    'deep/one/x': '',
    'deep/one/two/x': '',
    fooXbar: '',
    'sub/.gitignore': '!a.log\n/only-here\n',
    'sub/a.log': '',
    'sub/only-here': '',
    'only-here': '',
    '.git/info/exclude': '*.log\n*.secret\n',
    'x.secret': '',
  });
  assert.deepEqual(
    listed,
    [
      ...['.gitignore', 'bin2/x', 'deep/one/two/x', 'only-here', 'sub/.gitignore', 'sub/a.log', 'sub/buildfile/build'],
      ...['sub/keep.log', 'sub/top.txt', 'trail'],
    ].sort(),
  );
});

test('does not hang on an ignore file made to make it [S0-26]', () => {
  const stars = Array.from({ length: 200 }, () => `${'*a'.repeat(60)}b`);
  const hostile = [...stars, `${'**/'.repeat(200)}x${'?*'.repeat(100)}y`, `[${'a-'.repeat(500)}`, ''].join('\n');
  const rules = parseGitIgnore(Buffer.from(hostile));
  assert.equal(rules.decide(ignoreSubject('a'.repeat(255), 'other')), undefined);
  assert.equal(rules.decide(ignoreSubject(`${'a'.repeat(200)}b`, 'other')), 'ignored');
  let below = rules;
  for (let depth = 0; depth < 100; depth++) below = below.enter('a');
  assert.equal(below.decide(ignoreSubject('z'.repeat(255), 'other')), undefined);
  assert.equal(below.decide(ignoreSubject(`x${'q'.repeat(150)}y`, 'other')), 'ignored');
});
