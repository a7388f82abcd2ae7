/**
 * An independent witness: what `ast-grep outline`, with other code and other rules, finds in the fixtures must be among
 * the engine's nodes under the same name and at the same line. A query that lost a kind of declaration fails here.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { LANGUAGE_IDS } from '../src/profile/catalog.ts';
import { LANGUAGES_FOLDER } from '../src/profile/load-profile.ts';
import { createEngine } from '../src/symbols/engine.ts';
import { fixturePath } from './describe-facts.ts';

interface OutlineItem {
  readonly name: string;
  readonly astKind: string;
  readonly range: {
    readonly byteOffset: { readonly start: number; readonly end: number };
    readonly start: { readonly line: number };
    readonly end: { readonly line: number };
  };
  readonly isImport?: boolean;
  readonly members?: readonly OutlineItem[];
}

const AST_GREP = fileURLToPath(new URL('../../../node_modules/.bin/ast-grep', import.meta.url));
const engine = createEngine();
after(() => engine.delete());

test('the witness sees declarations and their members', async () => {
  const names = (await outline(fileURLToPath(new URL('typescript/fixtures/sample.ts', LANGUAGES_FOLDER)))).map(
    (item) => item.name,
  );
  assert.deepEqual(
    ['greet', 'Options', 'run', 'Geometry'].filter((name) => !names.includes(name)),
    [],
  );
});

for (const language of LANGUAGE_IDS) {
  test(`the nodes of ${language} hold every declaration ast-grep outlines in its fixtures [S0-53]`, async () => {
    const folder = new URL(`${language}/fixtures/`, LANGUAGES_FOLDER);
    const files = readdirSync(folder).filter((file) => !file.endsWith('.expected.txt') && !file.startsWith('broken'));
    for (const file of files) {
      const bytes = readFileSync(new URL(file, folder));
      const facts = await engine.index({ path: fixturePath(file), language, bytes });
      const found = facts.nodes.map((node) => ({ name: node.name, row: rowOf(bytes, node.nameSpan.start) }));
      const items = await outline(fileURLToPath(new URL(file, folder)));
      const missing = items.filter((item) => !isMistaken(item, bytes) && !found.some((node) => isSame(item, node)));
      assert.deepEqual(missing.map(describeItem), []);
    }
  });
}

/** The witness gives some names with path, parameters or sign, and lets a declaration begin with what is around it. */
function isSame(item: OutlineItem, node: { readonly name: string; readonly row: number }): boolean {
  const { start, end } = item.range;
  const plain = item.name
    .replace(/<.*?>/g, '')
    .replace(/^\$|^`|`$/g, '')
    .replace(/^companion object$/, 'Companion');
  const isName = plain === node.name || plain.split('::').at(-1) === node.name;
  return isName && node.row >= start.line && node.row <= end.line;
}

/** The witness takes the type in `struct point *make(void)` for a declaration, and `TEST(A, b) {}` for one of TEST. */
function isMistaken({ name, astKind, range }: OutlineItem, bytes: Buffer): boolean {
  const { start, end } = range.byteOffset;
  return /^TEST(?:_F)?$/.test(name) || (astKind === 'struct_specifier' && !bytes.subarray(start, end).includes('{'));
}

function rowOf(bytes: Buffer, offset: number): number {
  return bytes.subarray(0, offset).toString('latin1').split('\n').length - 1;
}

function describeItem(item: OutlineItem): string {
  return `${item.astKind} ${item.name}:${item.range.start.line + 1}`;
}

async function outline(file: string): Promise<OutlineItem[]> {
  const { stdout } = await promisify(execFile)(AST_GREP, ['outline', '--json=compact', file]);
  const answer = JSON.parse(stdout === '' ? '[]' : stdout) as { readonly items: readonly OutlineItem[] }[];
  return answer.flatMap((one) => one.items).flatMap(withMembers);
}

/** Import and export statements are items to the witness; here they are no declarations. */
function withMembers(item: OutlineItem): OutlineItem[] {
  const isStatement =
    item.isImport === true || (item.astKind === 'export_statement' && /^(?:['"]|exports$)/.test(item.name));
  return isStatement ? [] : [item, ...(item.members ?? []).flatMap(withMembers)];
}
