import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  closeSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import type { ToolError } from '@tool-runtime/protocol';
import { rgPath } from '@vscode/ripgrep';
import fc from 'fast-check';
import type { SearchAnswer, SearchQuery } from '../../contracts/search.ts';
import { openRoot } from '../descriptors/root.ts';
import { createFileTree } from './file-tree.ts';

/** A program of every system, not of a package. */
const MAKE_FIFO = 'mkfifo';

const QUERY: SearchQuery = {
  pattern: 'needle',
  fixed: false,
  caseSensitive: false,
  word: false,
  multiline: false,
  globs: [],
  includeHidden: false,
  includeIgnored: false,
  context: 0,
  maxResults: 1000,
  maxLineLength: 200,
};

type Tree = Readonly<Record<string, string | Uint8Array>>;

function scene(t: TestContext, tree: Tree, confinement: 'auto' | 'off') {
  const directory = mkdtempSync(join(tmpdir(), 'search-tree-'));
  const put = (files: Tree): void => {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(directory, path)), { recursive: true });
      writeFileSync(join(directory, path), content);
    }
  };
  put(tree);
  const root = openRoot(directory);
  t.after(() => {
    root.close();
    rmSync(directory, { recursive: true });
  });
  const files = createFileTree(root, { confinement });
  return {
    directory,
    put,
    search: (query: Partial<SearchQuery> = {}) => files.search({ ...QUERY, ...query }),
    list: (globs: readonly string[]) =>
      files.list({ globs, includeHidden: false, includeIgnored: false, maxResults: 1000 }),
  };
}

const places = ({ matches }: SearchAnswer) => matches.map(({ file, line, column }) => `${file}:${line}:${column}`);
const filesOf = ({ matches }: SearchAnswer) => [...new Set(matches.map(({ file }) => file))];

/** Ripgrep asked directly, through its other output format. */
function askRipgrep(directory: string, args: readonly string[]): string[] {
  const { stdout } = spawnSync(rgPath, ['--no-config', '--json', '--no-require-git', ...args, './'], {
    cwd: directory,
    maxBuffer: 64 * 1024 * 1024,
  });
  const found: { path: string; line: number; column: number }[] = [];
  for (const text of stdout.toString('utf8').split('\n').filter(Boolean)) {
    const { type, data } = JSON.parse(text);
    if (type !== 'match') continue;
    const before = Buffer.from(data.lines.text)
      .subarray(0, data.submatches[0]?.start ?? 0)
      .toString('utf8');
    found.push({ path: data.path.text.slice(2), line: data.line_number, column: [...before].length + 1 });
  }
  found.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : a.line - b.line));
  return found.map(({ path, line, column }) => `${path}:${line}:${column}`);
}

/** Programs on this machine with this text among their arguments. */
function processesWith(text: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text);
    } catch {
      return false;
    }
  });
}

for (const confinement of ['auto', 'off'] as const) {
  describe(confinement === 'auto' ? 'searchTree in a sandbox' : 'searchTree confirming every line', () => {
    test('agrees with ripgrep about files, lines and columns [S0-33]', async (t) => {
      const name = fc.constantFrom('a.txt', 'b.ts', 'n\nl', 'co:lon', 'é', 'x'.repeat(255), 'sub/a.txt', 'sub/deep/-e');
      const text = fc
        .array(fc.stringMatching(/^[abé\u{1f600} .]{0,12}$/u), { maxLength: 12 })
        .map((one) => one.join('\n'));
      const tree = fc.dictionary(name, text, { minKeys: 1, maxKeys: 6 });
      const pattern = fc.constantFrom('a', 'é+', 'a.b', '^a', 'b$', '(a|é)b?', '[^a]b', '', '\\s', 'B', '-e', '(ab)+');
      const { directory, put, search } = scene(t, {}, confinement);
      let round = 0;
      await fc.assert(
        fc.asyncProperty(tree, pattern, fc.boolean(), fc.boolean(), async (files, regex, caseSensitive, word) => {
          round += 1;
          put(Object.fromEntries(Object.entries(files).map(([path, content]) => [`r${round}/${path}`, content])));
          const flags = [
            caseSensitive ? '-s' : '-i',
            ...(word ? ['-w'] : []),
            '-g',
            `/r${round}/**`,
            '-e',
            regex,
            '--',
          ];
          const answer = await search({ pattern: regex, caseSensitive, word, globs: [`r${round}/**`] });
          assert.deepEqual(places(answer), askRipgrep(directory, flags));
        }),
        { numRuns: 40 },
      );
    });

    test('gives lines without their end in files of every kind [S0-33]', async (t) => {
      const utf16 = Buffer.from('\ufeffone\r\nthe needle é\r\n', 'utf16le');
      const { search } = scene(
        t,
        {
          'crlf.txt': 'one\r\ntwo needle\r\n',
          'bom.txt': '\ufeffneedle first\n',
          'utf16le.txt': utf16,
          'utf16be.txt': Buffer.from(utf16).swap16(),
          'no-end.txt': 'é needle',
          'latin.txt': Buffer.from('caf\xe9 needle\n', 'latin1'),
        },
        confinement,
      );
      const { matches } = await search();
      assert.deepEqual(
        matches.map(({ file, line, column, text }) => [file, line, column, text]),
        [
          ['bom.txt', 1, 1, 'needle first'],
          ['crlf.txt', 2, 5, 'two needle'],
          ['latin.txt', 1, 6, 'caf\ufffd needle'],
          ['no-end.txt', 1, 3, 'é needle'],
          ['utf16be.txt', 2, 5, 'the needle é'],
          ['utf16le.txt', 2, 5, 'the needle é'],
        ],
      );
      assert.deepEqual(filesOf(await search({ pattern: 'needle$' })), ['crlf.txt', 'latin.txt', 'no-end.txt']);
      assert.deepEqual(filesOf(await search({ pattern: 'needle\\r' })), ['crlf.txt']);
    });

    test('shows the lines around a match, other matches included [S0-33]', async (t) => {
      const { search } = scene(t, { a: '1\n2\nneedle 3\n4\nneedle 5\n6\n7\n8\n9\nneedle 10\n' }, confinement);
      const { matches } = await search({ context: 2 });
      assert.deepEqual(
        matches.map(({ line, before, after }) => [line, before, after]),
        [
          [3, ['1', '2'], ['4', 'needle 5']],
          [5, ['needle 3', '4'], ['6', '7']],
          [10, ['8', '9'], []],
        ],
      );
    });

    test('takes any pattern as a pattern, and plain text as plain text [S0-33]', async (t) => {
      const { search } = scene(t, { a: '--files\n-e\n(x)\na.b\naxb\n' }, confinement);
      assert.deepEqual(places(await search({ pattern: '--files' })), ['a:1:1']);
      assert.deepEqual(places(await search({ pattern: '-e' })), ['a:2:1']);
      assert.deepEqual(places(await search({ pattern: '(x)', fixed: true })), ['a:3:1']);
      assert.deepEqual(places(await search({ pattern: 'a.b', fixed: true })), ['a:4:1']);
      assert.deepEqual(places(await search({ pattern: 'a.b' })), ['a:4:1', 'a:5:1']);
      assert.equal((await search({ pattern: '' })).matches.length, 5);
      assert.deepEqual(places(await search({ pattern: 'x\\)\na', multiline: true })), ['a:3:2', 'a:4:2']);
    });

    test('refuses a pattern that cannot be read, and says what to do [S0-33]', async (t) => {
      const { search } = scene(t, { a: '(' }, confinement);
      for (const [pattern, message] of [
        ['(', /unclosed group/],
        ['(?=a)', /look-around/],
        ['a{1000}{1000}{1000}', /size limit/],
        ['a\nb', /not allowed/],
        ['\\p{Nope}', /property not found/],
        ['\0', /NUL/],
        ['\ud800', /surrogate/],
      ] as const) {
        await assert.rejects(search({ pattern }), (thrown: ToolError) => {
          assert.equal(thrown.code, 'E_VALIDATION_FAIL');
          assert.match(thrown.message, message);
          assert.match(String(thrown.details['next']), pattern === 'a\nb' ? /multiline/ : /fixed/);
          assert.doesNotMatch(JSON.stringify(thrown.toEntry()), /rg:|--|node_modules/);
          return true;
        });
      }
      assert.deepEqual(places(await search({ pattern: '(', fixed: true })), ['a:1:1']);
    });

    test('is not slowed down by a pattern made to be slow [S0-33]', async (t) => {
      const { search } = scene(t, { a: `${'a'.repeat(200_000)}!\n`, b: 'aaa\n' }, confinement);
      assert.deepEqual(filesOf(await search({ pattern: '^(a+)+$' })), ['b']);
    });

    test('leaves out hidden, ignored, foreign and binary files unless asked [S0-33]', async (t) => {
      const { directory, search } = scene(
        t,
        {
          '.gitignore': '*.log\n!.hidden-but-wanted\n',
          'a.log': 'needle',
          '.env': 'needle',
          '.hidden-but-wanted': 'needle',
          '.git/config': 'needle',
          'node_modules/p/i.js': 'needle',
          'binary.dat': 'needle\0',
          'late.dat': `needle\n${'x\n'.repeat(200_000)}\0`,
          'sub/file': 'needle',
        },
        confinement,
      );
      writeFileSync(join(directory, '.ignore'), 'sub\n');
      assert.deepEqual(filesOf(await search()), ['sub/file']);
      assert.deepEqual(filesOf(await search({ includeHidden: true })), ['.env', '.hidden-but-wanted', 'sub/file']);
      assert.deepEqual(filesOf(await search({ includeIgnored: true })), ['a.log', 'node_modules/p/i.js', 'sub/file']);
      assert.deepEqual(filesOf(await search({ globs: ['*.log', '.env', 'node_modules/**'] })), []);
    });

    test('follows no link and waits for no pipe [S0-33]', async (t) => {
      const outside = mkdtempSync(join(tmpdir(), 'outside-'));
      writeFileSync(join(outside, 'secret'), 'needle');
      t.after(() => rmSync(outside, { recursive: true }));
      const { directory, search } = scene(t, { 'real/file': 'needle' }, confinement);
      symlinkSync(outside, join(directory, 'out'));
      symlinkSync(join(outside, 'secret'), join(directory, 'out-file'));
      symlinkSync('real', join(directory, 'in'));
      execFileSync(MAKE_FIFO, [join(directory, 'pipe'), join(directory, 'real/pipe')]);
      for (const globs of [[], ['**'], ['out/**', 'in/*', 'real/*'], ['pipe', 'out-file', 'real/file']]) {
        assert.deepEqual(filesOf(await search({ globs, includeHidden: true, includeIgnored: true })), ['real/file']);
      }
      for (const globs of [['out/**'], ['in/**'], ['pipe'], ['out-file'], ['real/pipe']]) {
        assert.deepEqual(filesOf(await search({ globs })), []);
      }
    });

    test('searches for any glob exactly the files that a listing gives for it [S0-33]', async (t) => {
      const names = [
        'a.ts',
        'b.ts',
        'a.md',
        'src/a.ts',
        'src/[x].ts',
        'src/deep/b.md',
        'é.ts',
        'build/a.ts',
        'src/gen/a.ts',
      ];
      const { list, search } = scene(
        t,
        {
          ...Object.fromEntries(names.map((file) => [file, 'needle'])),
          '.gitignore': 'build\n',
          'src/.gitignore': 'gen/\n',
        },
        confinement,
      );
      const part = fc.constantFrom(
        '*',
        '**',
        'src',
        '*.ts',
        'a.*',
        '[ab].ts',
        '{a,é}.ts',
        '?.ts',
        '\\[x\\].ts',
        'build',
        'gen',
        '[!a]*',
      );
      const glob = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
      await fc.assert(
        fc.asyncProperty(fc.array(glob, { minLength: 1, maxLength: 2 }), async (globs) => {
          assert.deepEqual(filesOf(await search({ globs })), (await list(globs)).paths);
        }),
        { numRuns: 40 },
      );
    });

    test('stops at the limit and says so [S0-33]', async (t) => {
      const { search } = scene(t, { a: 'needle\n'.repeat(60), b: 'needle\n'.repeat(40) }, confinement);
      assert.equal((await search({ maxResults: 100 })).truncated, false);
      const cut = await search({ maxResults: 99 });
      assert.deepEqual([cut.matches.length, cut.truncated, cut.interrupted], [99, true, false]);
    });

    test('reports files or counts instead of lines [S0-33]', async (t) => {
      const { search } = scene(t, { a: 'needle\nx\nneedle needle\n', b: 'needle\n'.repeat(9000), c: 'x' }, confinement);
      assert.deepEqual(places(await search({ report: 'files' })), ['a:1:1', 'b:1:1']);
      const counted = await search({ report: 'counts' });
      assert.deepEqual(counted.counts, [
        { file: 'a', count: 2 },
        { file: 'b', count: 9000 },
      ]);
      assert.deepEqual([counted.matches, counted.truncated], [[], false]);
      assert.equal((await search({ report: 'counts', maxResults: 1 })).truncated, true);
      assert.equal((await search({ report: 'files', maxResults: 1 })).truncated, true);
    });

    test('returns up to a hundred thousand matches [S0-33]', async (t) => {
      const { search } = scene(t, { a: 'needle\n'.repeat(60_000), 'sub/b': 'x needle\n'.repeat(40_001) }, confinement);
      const { matches, truncated } = await search({ maxResults: 100_000 });
      assert.deepEqual([matches.length, truncated], [100_000, true]);
      assert.equal((await search({ maxResults: 100_000, globs: ['a'] })).truncated, false);
    });

    test('ends with its signal, keeps what it found and leaves no process behind [S0-33]', async (t) => {
      const { directory, search } = scene(t, { 'a-first': 'needle-for-signal\n' }, confinement);
      writeFileSync(join(directory, 'b-big'), 'x y z\n'.repeat(700_000));
      for (let copy = 0; copy < 1500; copy++) linkSync(join(directory, 'b-big'), join(directory, `b-${copy}`));
      const controller = new AbortController();
      const searching = search({ pattern: 'needle-for-signal', signal: controller.signal });
      let isOver = false;
      const over = () => {
        isOver = true;
      };
      searching.then(over, over);
      while (!isOver && processesWith('needle-for-signal').length === 0) {
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      assert.notEqual(processesWith('needle-for-signal').length, 0, 'the program runs');
      controller.abort();
      const { interrupted, truncated, matches } = await searching;
      assert.deepEqual([interrupted, truncated], [true, false]);
      assert.ok(matches.length <= 1);
      assert.deepEqual(processesWith('needle-for-signal'), []);
      assert.deepEqual(await search({ signal: controller.signal }), {
        matches: [],
        counts: [],
        truncated: false,
        interrupted: true,
      });
    });

    test('keeps its memory flat over a line of two hundred megabytes [S0-33]', async (t) => {
      const { directory, search } = scene(t, {}, confinement);
      const fd = openSync(join(directory, 'long'), 'w');
      for (let block = 0; block < 200; block++) writeSync(fd, Buffer.alloc(1_048_576, 'x'));
      writeSync(fd, `needle${'y'.repeat(1000)}\n`);
      closeSync(fd);
      const before = process.memoryUsage().rss;
      const { matches } = await search({ context: 1 });
      assert.ok(process.memoryUsage().rss - before < 120 * 1_048_576);
      assert.deepEqual(matches, [
        {
          file: 'long',
          line: 1,
          column: 200 * 1_048_576 + 1,
          text: `${'x'.repeat(50)}needle${'y'.repeat(144)}`,
          cut: true,
          before: [],
          after: [],
        },
      ]);
    });

    test('takes nothing from the environment [S0-33]', async (t) => {
      const { directory, search } = scene(t, { a: 'needle\nother\n' }, confinement);
      writeFileSync(join(directory, 'config'), '--invert-match\n');
      process.env['RIPGREP_CONFIG_PATH'] = join(directory, 'config');
      t.after(() => {
        delete process.env['RIPGREP_CONFIG_PATH'];
      });
      assert.deepEqual(places(await search({ globs: ['a'] })), ['a:1:1']);
    });
  });
}

test('goes straight to the folder that a glob names, under the rules that lie above it [S0-33]', async (t) => {
  const { search } = scene(
    t,
    {
      '.gitignore': '*.log\n/secret/\n',
      'src/.gitignore': 'gen\n',
      'src/a/x.log': 'needle',
      'src/a/gen/x': 'needle',
      'src/a/x': 'needle',
      'secret/x': 'needle',
      file: 'needle',
    },
    'auto',
  );
  assert.deepEqual(filesOf(await search({ globs: ['src/a/**'] })), ['src/a/x']);
  assert.deepEqual(filesOf(await search({ globs: ['secret/**'] })), []);
  assert.deepEqual(filesOf(await search({ globs: ['secret/**'], includeIgnored: true })), ['secret/x']);
  assert.deepEqual(filesOf(await search({ globs: ['file/**'] })), ['file']);
  assert.deepEqual(filesOf(await search({ globs: ['../**', 'src/../file'] })), []);
});

test('searches the folder it was opened on, also after that was renamed [S0-33]', async (t) => {
  const base = mkdtempSync(join(tmpdir(), 'renamed-'));
  t.after(() => rmSync(base, { recursive: true }));
  mkdirSync(join(base, 'workspace'));
  writeFileSync(join(base, 'workspace/file'), 'needle inside');
  const root = openRoot(join(base, 'workspace'));
  t.after(() => root.close());
  execFileSync('mv', [join(base, 'workspace'), join(base, 'elsewhere')]);
  mkdirSync(join(base, 'workspace'));
  writeFileSync(join(base, 'workspace/file'), 'needle impostor');
  for (const confinement of ['auto', 'off'] as const) {
    const { matches } = await createFileTree(root, { confinement }).search(QUERY);
    assert.deepEqual(
      matches.map(({ text }) => text),
      ['needle inside'],
    );
  }
});
