import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { refusal } from '../../../test/edit-case.ts';
import { openScratchEditor } from '../../../test/scratch-editor.ts';

type Files = Readonly<Record<string, string>>;
type Scratch = Awaited<ReturnType<typeof openScratchEditor>>;

const rename = async ({ id }: Scratch, name: string, new_name: string, file?: string) =>
  ({
    operation: 'rename_symbol',
    target_node_id: await id(name, file === undefined ? {} : { file }),
    new_name,
  }) as const;

async function renamed(scratch: Scratch, [name, fresh, file]: readonly [string, string, string?]): Promise<Files> {
  const answer = await scratch.edit(await rename(scratch, name, fresh, file));
  return Object.fromEntries(answer.files_touched.map((path) => [path, scratch.read(path)]));
}

const TS: Files = {
  'a.ts':
    "export function load(x: number): number {\n  return load(x - 1); // load\n}\nexport const o = { load, s: 'load' };\n",
  'b.ts':
    "\ufeffimport { load } from './a.ts';\r\nimport * as a from './a.ts';\r\nconst s = '🚀', t = [load(1), a.load(2)];\r\nconst f = (load: string) => load;\r\n",
  'c.ts': "import { load as l } from './a.ts';\nl(1);\n",
  'd.ts': "export { load } from './a.ts';\n",
  'e.ts': "import { load } from './d.ts';\nload(1);\n",
};

describe('rename_symbol by scope', () => {
  test('follows imports, namespaces, shorthand and stops at re-exports [S0-54]', async (t) => {
    const scratch = await openScratchEditor(t, TS);
    const plan = await scratch.editor.plan(await rename(scratch, 'load', 'fetchIt', 'a.ts'));
    assert.equal(plan.confidence, 'resolver');
    assert.deepEqual(
      plan.residual.map(({ file, line, kind }) => [file, line, kind]),
      [
        ['a.ts', 2, 'comment'],
        ['a.ts', 4, 'string'],
      ],
    );
    const answer = await scratch.editor.apply(plan, scratch.workspace);
    assert.deepEqual(answer.files_touched, ['a.ts', 'b.ts', 'c.ts', 'd.ts']);
    assert.equal(answer.edits, 8);
    assert.equal(
      scratch.read('a.ts'),
      "export function fetchIt(x: number): number {\n  return fetchIt(x - 1); // load\n}\nexport const o = { load: fetchIt, s: 'load' };\n",
    );
    assert.equal(
      scratch.read('b.ts'),
      "\ufeffimport { fetchIt } from './a.ts';\r\nimport * as a from './a.ts';\r\nconst s = '🚀', t = [fetchIt(1), a.fetchIt(2)];\r\nconst f = (load: string) => load;\r\n",
    );
    assert.equal(scratch.read('c.ts'), "import { fetchIt as l } from './a.ts';\nl(1);\n");
    assert.equal(scratch.read('d.ts'), "export { fetchIt as load } from './a.ts';\n");
    assert.equal(scratch.read('e.ts'), TS['e.ts']);
  });

  test('renames over packages in Python [S0-54]', async (t) => {
    const scratch = await openScratchEditor(t, {
      'p/__init__.py': 'from .a import load\n\n__all__ = ["load"]\n',
      'p/a.py': 'def load():\n\treturn "é"\n\n\nclass A:\n\tdef load(self):\n\t\treturn load()\n',
      'm.py': 'import p.a\n\np.a.load()\n',
    });
    const target_node_id = await scratch.id('load', { type: 'fn' });
    await scratch.edit({ operation: 'rename_symbol', target_node_id, new_name: 'fetch', on_residual: 'report' });
    assert.equal(
      scratch.read('p/a.py'),
      'def fetch():\n\treturn "é"\n\n\nclass A:\n\tdef load(self):\n\t\treturn fetch()\n',
    );
    assert.equal(scratch.read('m.py'), 'import p.a\n\np.a.fetch()\n');
  });

  test('renames in Rust, arguments of macros too [S0-54]', async (t) => {
    const scratch = await openScratchEditor(t, {
      'Cargo.toml': '[package]\nname = "x"\n',
      'src/lib.rs': 'mod a;\nuse a::load;\npub fn g() { println!("{}", load()); }\n',
      'src/a.rs': 'pub fn load() -> i32 { 1 }\n',
    });
    assert.deepEqual(await renamed(scratch, ['load', 'fetch']), {
      'src/a.rs': 'pub fn fetch() -> i32 { 1 }\n',
      'src/lib.rs': 'mod a;\nuse a::fetch;\npub fn g() { println!("{}", fetch()); }\n',
    });
  });

  test('renames over the files of a Go package [S0-54]', async (t) => {
    const scratch = await openScratchEditor(t, {
      'go.mod': 'module x\n',
      'a.go': 'package a\n\nfunc load() int { return 1 }\n',
      'b.go': 'package a\n\nvar x = load()\n',
    });
    assert.deepEqual(await renamed(scratch, ['load', 'fetch']), {
      'a.go': 'package a\n\nfunc fetch() int { return 1 }\n',
      'b.go': 'package a\n\nvar x = fetch()\n',
    });
  });

  test('answers with the new ids, of members too, and the old one is stale with the new as candidate [S0-54]', async (t) => {
    const scratch = await openScratchEditor(t, { 'a.ts': 'export class A {\n  run() {}\n}\nnew A();\n' });
    const [old, member] = [await scratch.id('A'), await scratch.id('run')];
    const answer = await scratch.edit(await rename(scratch, 'A', 'B'));
    const [fresh, moved] = [await scratch.id('B'), await scratch.id('run')];
    assert.deepEqual(answer.renamed_ids, { [old]: fresh, [member]: moved });
    await assert.rejects(
      scratch.editor.plan({ operation: 'rename_symbol', target_node_id: old, new_name: 'C' }),
      (thrown) => {
        assert.ok(refusal('stale_node')(thrown));
        const candidate = isToolError(thrown) ? thrown.details['candidate'] : undefined;
        assert.equal((candidate as { id: string }).id, fresh);
        return true;
      },
    );
  });

  const refusals: readonly (readonly [string, string, Files, string])[] = [
    ['a keyword', 'class', { 'a.ts': 'const load = 1;\n' }, 'invalid_name'],
    ['what is no name', 'a b', { 'a.ts': 'const load = 1;\n' }, 'invalid_name'],
    ['the same name', 'load', { 'a.ts': 'const load = 1;\n' }, 'invalid_name'],
    ['a name that is taken', 'other', { 'a.ts': 'const load = 1, other = 2;\n' }, 'name_conflict'],
    [
      'a name that another scope would capture',
      'x',
      { 'a.ts': 'const load = 1;\nfunction f(x: any) { return load; }\n' },
      'name_conflict',
    ],
    [
      'a plan over a file that does not parse',
      'x',
      { 'a.ts': 'export const load = 1;\n', 'b.ts': "import { load } from './a.ts';\nload(((;\n" },
      'parse_error',
    ],
    ['a member without a server', 'walk', { 'a.ts': 'class A {\n  load() {}\n}\n' }, 'needs_server'],
    [
      'a language without scopes and server',
      'walk',
      { 'A.java': 'class A {\n  void load() {}\n}\n' },
      'unsupported_language',
    ],
    [
      'hiding a Go name that others use',
      'load2',
      {
        'go.mod': 'module x\n',
        'a/a.go': 'package a\n\nfunc Load() {}\n',
        'b.go': 'package b\n\nimport "x/a"\n\nvar x = a.Load\n',
      },
      'visibility',
    ],
  ];
  for (const [name, fresh, files, reason] of refusals) {
    test(`refuses ${name} [S0-54]`, async (t) => {
      const scratch = await openScratchEditor(t, files);
      const before = scratch.snapshot();
      const { nodes } = await scratch.index.query({ name_like: '?oad' });
      const target_node_id = nodes[0]?.id ?? '';
      await assert.rejects(
        scratch.editor.plan({ operation: 'rename_symbol', target_node_id, new_name: fresh }),
        refusal(reason),
      );
      assert.deepEqual(scratch.snapshot(), before);
    });
  }

  test('leaves generated files alone, and refuses because they use the name by default [S0-54]', async (t) => {
    const files = {
      'a.ts': 'export const load = 1;\n',
      'g.ts': "// @generated\nimport { load } from './a.ts';\n",
    };
    const scratch = await openScratchEditor(t, files);
    const request = await rename(scratch, 'load', 'fetch', 'a.ts');
    await assert.rejects(scratch.editor.plan(request), refusal('residual'));
    const plan = await scratch.editor.plan({ ...request, on_residual: 'report' });
    assert.deepEqual(
      plan.files.map(({ path }) => path),
      ['a.ts'],
    );
    assert.deepEqual(
      plan.residual.map(({ file, kind }) => [file, kind]),
      [['g.ts', 'generated']],
    );
    const both = await scratch.editor.plan({ ...request, allow_generated: true });
    assert.deepEqual(
      both.files.map(({ path }) => path),
      ['a.ts', 'g.ts'],
    );
  });

  test('asks to confirm a rename of more than 500 files [S0-54]', async (t) => {
    const users = Array.from({ length: 500 }, (_, at) => [`u${at}.ts`, "import { load } from './a.ts';\n"] as const);
    const scratch = await openScratchEditor(t, { 'a.ts': 'export const load = 1;\n', ...Object.fromEntries(users) });
    const request = await rename(scratch, 'load', 'fetch', 'a.ts');
    await assert.rejects(scratch.editor.plan(request), refusal('too_large'));
    assert.equal((await scratch.editor.plan({ ...request, confirm_large: true })).files.length, 501);
  });
});
