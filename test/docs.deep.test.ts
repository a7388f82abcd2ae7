/** What the pages show, compared with what the product does: marked blocks are run, links followed, names looked up. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, test } from 'node:test';
import { runCli } from '../packages/host/test/run-cli.ts';
import { compareOutput } from './pages/compare-output.ts';
import { ROOT, readBlocks, readPage } from './pages/read-page.ts';
import { createPageFolder, runBlocks } from './pages/run-page.ts';

const inDocs = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'));
const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...inDocs.map((name) => `docs/${name}`)];
const runnable = pages.filter((name) =>
  readBlocks(readPage(name)).some(({ mark }) => mark === 'run' || mark === 'run: terminal'),
);

/** As the sites that show Markdown make them of headings. */
function anchorsOf(page: string): ReadonlySet<string> {
  const headings = page.replaceAll(/^```.*?^```$/gms, '').matchAll(/^#+ (.+)$/gm);
  return new Set(
    [...headings].map(([, words = '']) =>
      words
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

function deadLinks(name: string): readonly string[] {
  const links = readPage(name)
    .replaceAll(/^```.*?^```$/gms, '')
    .matchAll(/\]\((?!https?:|mailto:)([^)#]*)(?:#([^)]*))?\)/g);
  return [...links].flatMap(([, path = '', anchor]) => {
    const target = path === '' ? name : normalize(join(dirname(name), path));
    const file = join(ROOT, target);
    if (!existsSync(file)) return [`${name}: ${path}`];
    if (anchor === undefined || statSync(file).isDirectory()) return [];
    return anchorsOf(readFileSync(file, 'utf8')).has(anchor) ? [] : [`${name}: ${path}#${anchor}`];
  });
}

describe('the documentation', () => {
  test('has links that lead somewhere', () => {
    assert.ok(pages.length > 15);
    assert.deepEqual(pages.flatMap(deadLinks), []);
  });

  test('has an index of all pages and all examples, and the README leads to it', () => {
    const index = readPage('docs/README.md');
    const examples = readdirSync(join(ROOT, 'examples')).filter((name) => !name.endsWith('.test.ts'));
    const missing = [
      ...inDocs.filter((name) => name !== 'README.md' && !index.includes(`(${name})`)),
      ...examples.filter((name) => !index.includes(`(../examples/${name})`)),
    ];
    assert.deepEqual(missing, []);
    assert.ok(readPage('README.md').includes('(docs/README.md)'));
  });

  test('names commands that exist', async () => {
    const { stdout } = await runCli(['--help']);
    const known = new Set([...stdout.matchAll(/^ {2}([a-z]+)\b/gm)].map(([, name = '']) => name));
    const groups = ['approvals', 'ast', 'audit', 'hook', 'mcp', 'runs', 'token', 'tool'];
    for (const group of groups) {
      const help = await runCli([group, '--help']);
      const [, list = ''] = help.stdout.split('Commands:');
      for (const [, name = ''] of list.matchAll(/^ {2}([a-z]+)\b/gm)) known.add(`${group} ${name}`);
    }
    assert.ok(known.size > 30 && known.has('audit verify'), [...known].join(', '));
    const unknown = pages.flatMap((name) =>
      [...readPage(name).matchAll(/\btool-runtime (?!needs Node)([a-z]+)(?: ([a-z]+))?/g)]
        .map(([, verb = '', sub = '']) => (groups.includes(verb) && sub !== '' ? `${verb} ${sub}` : verb))
        .filter((command) => !known.has(command))
        .map((command) => `${name}: tool-runtime ${command}`),
    );
    assert.deepEqual(unknown, []);
  });

  test('shows the examples as they are', () => {
    const code = (name: string, from: string, to?: string): string => {
      const text = readFileSync(join(ROOT, 'examples', name), 'utf8');
      return text.slice(text.indexOf(from), to === undefined ? undefined : text.indexOf(to)).trim();
    };
    const copies = [
      ['docs/embed.md', code('embed.ts', 'import assert')],
      ['docs/write-a-tool.md', code('own-tool.ts', 'const lineCount', 'const scratch')],
      ['docs/write-a-rule.md', code('own-rule.ts', 'const jsonParses', 'const scratch')],
    ] as const;
    for (const [page, copy] of copies) assert.ok(readPage(page).includes(copy), `copy the code anew into ${page}`);
    assert.equal(code('embed.ts', 'import assert').replaceAll(/\n\n/g, '\n').split('\n').length <= 10, true);
  });
});

/** Commands of a block: what is before a comment or an operator. */
function commandsOf(text: string): readonly string[] {
  const lines = text.split('\n').map((line) => line.replace(/ *#.*$/, ''));
  return lines.flatMap((line) => line.split(' && ')).filter((command) => command !== '');
}

describe('the pages a newcomer reads first', () => {
  test('have no block that is not run', () => {
    const loose = ['README.md', 'docs/getting-started.md'].flatMap((name) =>
      readBlocks(readPage(name)).flatMap(({ mark, language, isNext, text, line }) => {
        const [verb = '', file = ''] = mark.split(': ');
        if (['run', 'file', 'add', 'shown'].includes(verb) || (language === '' && isNext)) return [];
        const elsewhere = verb === 'elsewhere' ? readPage(file) : '';
        return commandsOf(text)
          .filter((command) => !elsewhere.includes(command))
          .map((command) => `${name}:${line} ${command}`);
      }),
    );
    assert.deepEqual(loose, []);
  });

  test('are short: the README has at most 120 lines that are shown', () => {
    const shown = readPage('README.md')
      .trimEnd()
      .replaceAll(/^<!-- .* -->\n/gm, '');
    assert.ok(shown.split('\n').length <= 120, String(shown.split('\n').length));
  });
});

describe('pages that are run', { concurrency: 2 }, () => {
  test('are those for newcomers', () => assert.ok(runnable.length >= 5, runnable.join(', ')));

  for (const name of runnable) {
    test(`${name} shows what its commands print`, async () => {
      using folder = createPageFolder();
      for (const { block, printed, status, shown } of await runBlocks(readBlocks(readPage(name)), folder)) {
        const where = `${name}:${block.line}`;
        if (shown === undefined) assert.equal(status, 0, `${where} ended with ${status}:\n${printed}`);
        else {
          const difference = compareOutput(printed, shown);
          if (difference !== undefined) assert.equal(difference.printed, difference.shown, where);
        }
      }
    });
  }

  test('would notice a difference', () => {
    assert.equal(compareOutput('{"duration_ms":1.5}\nend\n', '{"duration_ms":7}\nend\n'), undefined);
    assert.equal(compareOutput('a\nb\nc\n', '…\nc\n'), undefined);
    assert.equal(compareOutput('one two three\n', 'one … three\n'), undefined);
    for (const [printed, shown] of [
      ['a\nb\n', 'a\n'],
      ['a\n', 'a\nb\n'],
      ['one two\n', 'one … three\n'],
      ['a.c\n', 'abc\n'],
    ] as const) {
      assert.notEqual(compareOutput(printed, shown), undefined);
    }
  });
});
