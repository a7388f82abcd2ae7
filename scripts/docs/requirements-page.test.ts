import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import requirements from './requirements.json' with { type: 'json' };
import { findNamedIds, requirementsPage, unexplainedIds } from './requirements-page.ts';

/** Assembled, because the generator reads this file too. */
const id = (group: number, number: number): string => `S${group}-${number}`;
const SUITE = `import { test } from 'node:test';\n`;

function createTree(t: TestContext, files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(path.join(os.tmpdir(), 'requirements-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    writeFileSync(path.join(root, file), text);
  }
  return root;
}

function linesOf(page: string, start: string): string[] {
  return page.split('\n').filter((line) => line.startsWith(start));
}

describe('the sentences', () => {
  test('are short and whole, in order without gaps', () => {
    const seen = new Map<string, number>();
    for (const [key, sentence] of Object.entries(requirements)) {
      const [group = '', number] = key.split('-');
      assert.equal(Number(number), (seen.get(group) ?? 0) + 1, key);
      seen.set(group, Number(number));
      assert.match(sentence, /^[A-Z0-9`].*\.$/, key);
      assert.ok(sentence.split(' ').length <= 26, `${key} is too long`);
    }
    assert.deepEqual([...seen.keys()], ['S0', 'S1', 'S2', 'S3', 'S4']);
  });

  test('appear once each on the page', () => {
    const page = requirementsPage(new Map());
    for (const key of Object.keys(requirements)) assert.equal(linesOf(page, `| ${key} |`).length, 1, key);
  });
});

describe('ids in tests', () => {
  test('are found in titles, tables and suites, the file with the most mentions first', (t) => {
    const root = createTree(t, {
      'packages/a/src/once.test.ts': `test('${id(0, 1)} ${id(0, 2)} does', () => {});\n`,
      'packages/a/test/suite.ts': `${SUITE}test(\`${id(0, 1)} \${name}\`);\ncheck('section ${id(0, 1)} too');\n`,
      'test/table.test.ts': `const rows = [['${id(4, 50)} a row', 1]];\n`,
    });
    assert.deepEqual(
      findNamedIds(root),
      new Map([
        [id(0, 1), ['packages/a/test/suite.ts', 'packages/a/src/once.test.ts']],
        [id(0, 2), ['packages/a/src/once.test.ts']],
        [id(4, 50), ['test/table.test.ts']],
      ]),
    );
  });

  test('do not count in comments, outside tests or inside other words', (t) => {
    const root = createTree(t, {
      'packages/a/src/a.test.ts': `// ${id(0, 1)}\n/** ${id(0, 1)} */\n  * ${id(0, 1)}\ntest('AWS${id(0, 1)}x');\n`,
      'packages/a/src/a.ts': `export const names = ["from 'node:test'", '${id(0, 1)}'];\n`,
      'docs/a.test.ts': `test('${id(0, 1)}');\n`,
    });
    assert.deepEqual(findNamedIds(root), new Map());
  });

  test('without a sentence are reported with their files, and known ones are not', (t) => {
    const root = createTree(t, {
      'bench/a.test.ts': `test('${id(0, 1)} ${id(0, 999)} ${id(9, 1)}');\n`,
      'examples/b.test.ts': `test('${id(9, 1)}');\n`,
    });
    assert.deepEqual(unexplainedIds(findNamedIds(root)), [
      `${id(0, 999)} in bench/a.test.ts`,
      `${id(9, 1)} in bench/a.test.ts, examples/b.test.ts`,
    ]);
  });

  test('link to at most three files and count the others', () => {
    const files = ['a', 'b', 'c', 'd', 'e'].map((name) => `test/${name}.test.ts`);
    const page = requirementsPage(
      new Map([
        [id(0, 1), files],
        [id(0, 2), files.slice(0, 3)],
      ]),
    );
    const links = '[a.test.ts](../test/a.test.ts), [b.test.ts](../test/b.test.ts), [c.test.ts](../test/c.test.ts)';
    assert.ok(linesOf(page, `| ${id(0, 1)} |`)[0]?.endsWith(`| ${links} and 2 more |`));
    assert.ok(linesOf(page, `| ${id(0, 2)} |`)[0]?.endsWith(`| ${links} |`));
    assert.ok(linesOf(page, `| ${id(0, 3)} |`)[0]?.endsWith('| no test names it |'));
  });
});
