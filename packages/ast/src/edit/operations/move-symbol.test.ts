import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { refusal } from '../../../test/edit-case.ts';
import { openScratchEditor } from '../../../test/scratch-editor.ts';

type Files = Readonly<Record<string, string>>;
type Scratch = Awaited<ReturnType<typeof openScratchEditor>>;

const move = async ({ id }: Scratch, [name, file, to_file]: readonly [string, string, string], reexport = false) =>
  ({ operation: 'move_symbol', target_node_id: await id(name, { file }), to_file, reexport }) as const;

async function moved(scratch: Scratch, ...given: [readonly [string, string, string], boolean?]): Promise<Files> {
  const { files_touched: paths } = await scratch.edit(await move(scratch, ...given));
  return Object.fromEntries(paths.map((path) => [path, scratch.read(path)]));
}

const TS: Files = {
  'a.ts':
    "import { dep, other } from './lib/dep.ts';\nimport type { T } from './lib/dep.ts';\n\nexport const K = 1;\n\n/** Loads 🚀. */\nexport function load(x: T): number {\n  return dep(x) + K;\n}\n\nexport function rest() {\n  return load(1) + other;\n}\n\nfunction hidden() {}\nexport const user = () => hidden();\n",
  'lib/dep.ts': 'export const dep = (x: any) => x, other = 1;\nexport type T = any;\n',
  'lib/b.ts': "import { load, K } from '../a.ts';\nexport const q = load(K);\n",
  'lib/c.ts': "import { load as l } from '../a.ts';\nl(1);\n",
  'lib/n.ts': "import * as a from '../a.ts';\na.rest();\n",
};

describe('move_symbol', () => {
  test('moves to a new file and fixes imports on both sides [S0-54]', async (t) => {
    const scratch = await openScratchEditor(t, TS);
    const old = await scratch.id('load', { file: 'a.ts' });
    const answer = await scratch.edit(await move(scratch, ['load', 'a.ts', 'lib/new.ts']));
    assert.deepEqual(answer.files_touched, ['a.ts', 'lib/b.ts', 'lib/c.ts', 'lib/new.ts']);
    assert.equal(
      scratch.read('lib/new.ts'),
      "import { dep, type T } from './dep.ts';\nimport { K } from '../a.ts';\n\n/** Loads 🚀. */\nexport function load(x: T): number {\n  return dep(x) + K;\n}\n",
    );
    assert.match(
      scratch.read('a.ts'),
      /^import \{ other \} from '.\/lib\/dep.ts';\nimport \{ load \} from '.\/lib\/new.ts';\n\nexport const K = 1;\n\nexport function rest/,
    );
    assert.equal(
      scratch.read('lib/b.ts'),
      "import { K } from '../a.ts';\nimport { load } from './new.ts';\nexport const q = load(K);\n",
    );
    assert.equal(scratch.read('lib/c.ts'), "import { load as l } from './new.ts';\nl(1);\n");
    assert.deepEqual(answer.renamed_ids, { [old]: await scratch.id('load', { file: 'lib/new.ts' }) });
    assert.match(answer.warnings[0] ?? '', /import each other/);
  });

  test('moves into a file that used it [S0-54] (deep)', async (t) => {
    const scratch = await openScratchEditor(t, TS);
    await scratch.edit(await move(scratch, ['load', 'a.ts', 'lib/b.ts']));
    assert.equal(
      scratch.read('lib/b.ts'),
      "import { K } from '../a.ts';\nimport { dep, type T } from './dep.ts';\nexport const q = load(K);\n\n/** Loads 🚀. */\nexport function load(x: T): number {\n  return dep(x) + K;\n}\n",
    );
  });

  test('leaves all other importers alone with a re-export [S0-54] (deep)', async (t) => {
    const scratch = await openScratchEditor(t, TS);
    const files = await moved(scratch, ['rest', 'a.ts', 'lib/new.ts'], true);
    assert.deepEqual(Object.keys(files), ['a.ts', 'lib/new.ts']);
    assert.match(files['a.ts'] ?? '', /\nexport \{ rest \} from '.\/lib\/new.ts';\n/);
    assert.doesNotMatch(files['a.ts'] ?? '', /other/);
  });

  test('moves in Python with relative imports [S0-54]', async (t) => {
    const scratch = await openScratchEditor(t, {
      'p/__init__.py': '',
      'p/a.py':
        'import os\nfrom .dep import dep\n\n\ndef load(x):\n    """é"""\n    return dep(os.path.join(x))\n\n\ndef rest():\n    return load(1)\n',
      'p/dep.py': 'def dep(x):\n    return x\n',
      'm.py': 'from p.a import load, rest\n\nload(1)\n',
    });
    assert.deepEqual(await moved(scratch, ['load', 'p/a.py', 'p/new.py']), {
      'm.py': 'from p.a import rest\nfrom p.new import load\n\nload(1)\n',
      'p/a.py': 'from .new import load\n\n\ndef rest():\n    return load(1)\n',
      'p/new.py': 'import os\nfrom .dep import dep\n\n\ndef load(x):\n    """é"""\n    return dep(os.path.join(x))\n',
    });
  });

  test('moves between files of a Go package [S0-54]', async (t) => {
    const scratch = await openScratchEditor(t, {
      'go.mod': 'module x\n',
      'a.go':
        'package g\n\nimport (\n\t"fmt"\n\t"os"\n)\n\n// Load is.\nfunc Load() { fmt.Println(1) }\n\nfunc Rest() { os.Exit(1); Load() }\n',
    });
    assert.deepEqual(await moved(scratch, ['Load', 'a.go', 'b.go']), {
      'a.go': 'package g\n\nimport (\n\t"os"\n)\n\nfunc Rest() { os.Exit(1); Load() }\n',
      'b.go': 'package g\n\nimport "fmt"\n\n// Load is.\nfunc Load() { fmt.Println(1) }\n',
    });
  });

  test('moves a class to a file of its own in Java [S0-54]', async (t) => {
    const scratch = await openScratchEditor(t, {
      'j/A.java': 'package j;\n\nimport java.util.List;\n\npublic class A {}\n\nclass Other {\n  List x;\n}\n',
    });
    assert.deepEqual(await moved(scratch, ['Other', 'j/A.java', 'j/Other.java']), {
      'j/A.java': 'package j;\n\npublic class A {}\n',
      'j/Other.java': 'package j;\n\nimport java.util.List;\n\nclass Other {\n  List x;\n}\n',
    });
  });

  const refusals: readonly (readonly [string, Files, readonly [string, string, string], string])[] = [
    ['a name used through its namespace', TS, ['rest', 'a.ts', 'lib/new.ts'], 'reached_indirectly'],
    ['code that needs what is not exported', TS, ['user', 'a.ts', 'lib/new.ts'], 'needs_export'],
    [
      'a name that is taken there',
      { ...TS, 'lib/x.ts': 'const load = 1;\n' },
      ['load', 'a.ts', 'lib/x.ts'],
      'name_conflict',
    ],
    ['the file itself', TS, ['load', 'a.ts', './a.ts'], 'bad_destination'],
    ['a file outside of the workspace', TS, ['load', 'a.ts', '../b.ts'], 'bad_destination'],
    ['another language', TS, ['load', 'a.ts', 'b.py'], 'bad_destination'],
    ['a member', { 'a.ts': 'class A {\n  run() {}\n}\n' }, ['run', 'a.ts', 'b.ts'], 'cannot_move'],
    ['a default export', { 'a.ts': 'export default function f() {}\n' }, ['f', 'a.ts', 'b.ts'], 'cannot_move'],
    ['a language whose modules are not known', { 'a.rs': 'fn f() {}\n' }, ['f', 'a.rs', 'b.rs'], 'cannot_move'],
    [
      'a public class into a file of another name',
      { 'A.java': 'public class A {}\n' },
      ['A', 'A.java', 'B.java'],
      'cannot_move',
    ],
    ['another package', { 'a/a.go': 'package a\n\nfunc F() {}\n' }, ['F', 'a/a.go', 'b/b.go'], 'cannot_move'],
    [
      'an import cycle in Python',
      { 'a.py': 'def k():\n    pass\n\n\ndef f():\n    k()\n\n\nf()\n' },
      ['f', 'a.py', 'b.py'],
      'import_cycle',
    ],
  ];
  for (const [name, files, given, reason] of refusals) {
    test(`refuses ${name} [S0-54]`, async (t) => {
      const scratch = await openScratchEditor(t, files);
      await assert.rejects(scratch.editor.plan(await move(scratch, given)), refusal(reason));
    });
  }
});
