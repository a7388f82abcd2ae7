import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import {
  checkRename,
  memoryFiles,
  type RenameCase,
  readMarked,
  refusalOf,
} from '../../../test/scope/marked-project.ts';
import { createEngine } from '../../symbols/engine.ts';
import { planRename } from './plan-rename.ts';

const engine = createEngine();
after(() => engine.delete());

const CONFLICTS: readonly RenameCase[] = [
  {
    title: 'a declaration of the new name in the same scope',
    files: { 'a.ts': 'export {};\nconst «*x» = 1;\nconst y = 2;\n«x»;\n' },
    newName: 'y',
    conflicts: ['a.ts:3 collision', 'a.ts:4 capture'],
  },
  {
    title: 'a parameter and a variable of the body, which share a scope',
    files: { 'a.ts': 'export {};\nfunction f(«*x»: number) { const y = 1; }\n' },
    newName: 'y',
    conflicts: ['a.ts:2 collision'],
  },
  {
    title: 'a type that would merge with the value',
    files: { 'a.ts': 'export {};\nconst «*x» = 1;\ninterface Y {}\n' },
    newName: 'Y',
    conflicts: ['a.ts:3 collision'],
  },
  {
    title: 'a use that an inner variable would capture',
    files: { 'a.ts': 'export {};\nconst «*x» = 1;\nfunction f(y: number) {\n  return «x»;\n}\n' },
    newName: 'y',
    conflicts: ['a.ts:4 capture'],
  },
  {
    title: 'an inner variable that captures nothing',
    files: { 'a.ts': 'export {};\nconst «*x» = 1;\nfunction f(y: number) {\n  return y;\n}\n«x»;\n' },
    newName: 'y',
  },
  {
    title: 'a use of an outer variable that the new name would take over',
    files: { 'a.ts': 'export {};\nconst y = 1;\nfunction f(«*x»: number) {\n  return y + «x»;\n}\n' },
    newName: 'y',
    conflicts: ['a.ts:4 capture', 'a.ts:4 shadow'].slice(1),
  },
  {
    title: 'a use of a builtin that the new name would take over',
    files: { 'a.py': 'def f(«*x»):\n    return len(«x»)\n' },
    newName: 'len',
    conflicts: ['a.py:2 shadow'],
  },
  {
    title: 'a type of the same name where only values are used',
    files: { 'a.ts': 'export {};\nconst «*x» = 1;\nfunction f<Y>(a: Y) {\n  return «x»;\n}\n' },
    newName: 'Y',
  },
  {
    title: 'the importing file, where the new name is taken',
    files: { 'a.ts': 'export const «*x» = 1;\n', 'b.ts': "import { «x» } from './a.ts';\nconst y = «x»;\n" },
    newName: 'y',
    conflicts: ['b.ts:2 collision', 'b.ts:2 capture'],
  },
  {
    title: 'a module between, that offers the new name itself',
    files: {
      'a.ts': 'export const «*x» = 1;\n',
      'b.ts': "export * from './a.ts';\nexport const y = 2;\n",
      'c.ts': "import { «x» } from './b.ts';\nimport * as ns from './b.ts';\nns.«x»;\n",
    },
    newName: 'y',
    conflicts: ['c.ts:1 capture', 'c.ts:3 capture'],
  },
  {
    title: 'an import of the new name that two stars would answer',
    files: {
      'a.ts': 'export const «*x» = 1;\n',
      'b.ts': 'export const y = 2;\n',
      'c.ts': "export * from './a.ts';\nexport * from './b.ts';\n",
      'd.ts': "import { y } from './c.ts';\ny;\n",
    },
    newName: 'y',
    conflicts: ['d.ts:1 shadow'],
  },
  {
    title: 'a name that a star import would bring in',
    files: { 'a.py': '«*x» = 1\n', 'b.py': 'from a import *\nprint(«x»)\n' },
    newName: 'print',
    conflicts: ['b.py:2 shadow'],
  },
  {
    title: 'another file of a Go package',
    files: {
      'a.go': 'package a\n\nvar «*x» = 1\n',
      'b.go': 'package a\n\nvar y = 2\n\nfunc f() { _ = «x» }\n',
      'c.go': 'package a\n\nfunc g() { len("") }\n',
    },
    newName: 'y',
    conflicts: ['b.go:3 collision', 'b.go:5 capture'],
  },
  {
    title: 'a builtin in another file of a Go package',
    files: { 'a.go': 'package a\n\nvar «*x» = 1\n', 'c.go': 'package a\n\nfunc g() { len("") }\n' },
    newName: 'len',
    conflicts: ['c.go:3 shadow'],
  },
  {
    title: 'a later variable of Rust, where it stands between',
    files: { 'src/lib.rs': 'fn f() {\n  let «*x» = 1;\n  let y = 2;\n  «x» + y;\n}\n' },
    newName: 'y',
    conflicts: ['src/lib.rs:4 capture'],
  },
  {
    title: 'a later variable of Rust that only replaces it',
    files: { 'src/lib.rs': 'fn f() {\n  let «*x» = 1;\n  let y = «x»;\n  y;\n}\n' },
    newName: 'y',
  },
  {
    title: 'an earlier variable of Rust whose use would change',
    files: { 'src/lib.rs': 'fn f() {\n  let y = 1;\n  let «*x» = 2;\n  «x» + y;\n}\n' },
    newName: 'y',
    conflicts: ['src/lib.rs:4 shadow'],
  },
  {
    title: 'a type and a function of Rust, which live apart',
    files: { 'src/lib.rs': 'fn «*x»() {}\nmod y {}\nstruct Y;\n' },
    newName: 'y',
  },
  {
    title: 'a global of Python that a function rebinds',
    files: { 'a.py': '«*x» = 1\ndef f():\n    y = 2\n    return «x»\ndef g():\n    global «x»\n    return «x»\n' },
    newName: 'y',
    conflicts: ['a.py:4 capture'],
  },
];

describe('the plan reports as conflicts, or finds none in [S0-54]', () => {
  for (const one of CONFLICTS) test(one.title, () => checkRename(engine, one));
});

describe('planRename refuses [S0-54]', () => {
  const plain = { 'a.ts': 'export const «*x» = 1;\n' };

  test('what is no name, a keyword or the old name', async () => {
    for (const bad of ['', '1a', 'a b', 'a-b', '#x', 'class', 'x']) {
      assert.equal(await refusalOf(engine, plain, bad), 'invalid_name', bad);
    }
    assert.equal(await refusalOf(engine, plain, 'klass'), undefined);
    assert.equal(await refusalOf(engine, { 'a.py': '«*x» = 1\n' }, 'def'), 'invalid_name');
    assert.equal(await refusalOf(engine, { 'a.py': '«*x» = 1\n' }, 'größe'), undefined);
    assert.equal(await refusalOf(engine, { 'src/lib.rs': 'fn «*x»() {}\n' }, 'fn'), 'invalid_name');
    assert.equal(await refusalOf(engine, { 'src/lib.rs': 'fn «*x»() {}\n' }, 'r#fn'), undefined);
  });

  test('a place where the name is not, and a language without scopes', async () => {
    const { files } = readMarked(plain, 'y');
    const at = (path: string, nameStart: number) =>
      planRename({ files, engine, target: { path, nameStart, name: 'x' }, newName: 'y' });
    assert.equal((await at('a.ts', 3)).refused?.reason, 'stale_target');
    assert.equal((await at('missing.ts', 3)).refused?.reason, 'stale_target');
    assert.equal((await at('a.txt', 3)).refused?.reason, 'unsupported_language');
    assert.equal((await at('a.ts', 13)).refused, undefined);
  });

  test('when a file that contains the name does not parse, and says where', async () => {
    const broken = readMarked({ ...plain, 'b.ts': 'x;\nfunction (\n' }, 'y');
    const plan = await planRename({ ...broken, engine, newName: 'y' });
    assert.deepEqual(
      [plan.refused?.reason, plan.refused?.at?.path, plan.refused?.at?.line],
      ['parse_error', 'b.ts', 2],
    );
    assert.deepEqual(plan.edits, []);
    assert.equal(await refusalOf(engine, { ...plain, 'b.ts': 'z;\nfunction (\n' }), undefined);
    assert.equal(
      await refusalOf(engine, { ...plain, 'b.ts': 'xx;\nfunction (\n' }),
      undefined,
      'part of a longer name',
    );
  });

  test('when a file on the way does not parse', async () => {
    const files = { ...plain, 'b.ts': "export * from './a.ts';\n", 'c.ts': "import { «x» } from './b.ts';\n" };
    assert.equal(await refusalOf(engine, files), undefined);
    assert.equal(await refusalOf(engine, { ...files, 'b.ts': "export * from './a.ts';\nfunction (" }), 'parse_error');
  });

  test('a candidate that is no text', async () => {
    assert.equal(await refusalOf(engine, { ...plain, 'b.ts': 'x\0' }), 'unreadable');
  });

  test('members, and allows what only looks like one', async () => {
    const members = [
      'class C { «*m»() {} }\n',
      'interface I { «*p»: 1 }\n',
      'enum E { «*A» }\n',
      'const o = { «*k»: 1 };\n',
      'class C { constructor(private «*p»: 1) {} }\n',
      'namespace N { export const «*a» = 1; }\n',
      'other.«*m»;\n',
      "declare module 'foo' { const «*q»: 1; }\n",
    ];
    for (const text of members) assert.equal(await refusalOf(engine, { 'a.ts': text }), 'needs_server', text);
    assert.equal(await refusalOf(engine, { 'a.ts': 'namespace N { const «*a» = 1; «a»; }\n' }), undefined);
    assert.equal(await refusalOf(engine, { 'a.ts': 'class C { constructor(«*p»: 1) {} }\n' }), undefined);
    assert.equal(await refusalOf(engine, { 'a.py': 'class C:\n    «*m» = 1\n' }), 'needs_server');
    assert.equal(await refusalOf(engine, { 'a.py': 'import «*a».b\n', 'a/b.py': '' }), 'needs_server');
    assert.equal(await refusalOf(engine, { 'src/lib.rs': 'struct S; impl S { fn «*m»(&self) {} }\n' }), 'needs_server');
    assert.equal(await refusalOf(engine, { 'src/lib.rs': 'enum E { «*A» }\n' }), 'needs_server');
    assert.equal(await refusalOf(engine, { 'src/lib.rs': 'mod «*m» {}\n' }), 'needs_server');
    assert.equal(await refusalOf(engine, { 'src/lib.rs': 'macro_rules! «*m» { () => {} }\n' }), 'needs_server');
  });

  test('to hide a Python name from star imports that need it', async () => {
    const files = { 'a.py': '«*x» = 1\n', 'b.py': 'from a import *\nprint(«x»)\n' };
    assert.equal(await refusalOf(engine, files, '_x'), 'visibility');
    assert.equal(await refusalOf(engine, { 'a.py': '«*x» = 1\n' }, '_x'), undefined);
  });

  test('a symbol of a generated file, by default', async () => {
    const { files, target } = readMarked({ 'a.ts': '// @generated\nexport const «*x» = 1;\n' }, 'y');
    assert.equal((await planRename({ files, engine, target, newName: 'y' })).refused?.reason, 'generated');
    const plan = await planRename({ files, engine, target, newName: 'y', allowGenerated: true });
    assert.equal(plan.edits.length, 1);
  });
});

describe('planRename [S0-54]', () => {
  test('lists the files it looked at, and only the own one for a local name', async () => {
    const files = { 'a.ts': 'export const «*x» = 1;\n', 'b.ts': 'const x = 1;\n', 'c.ts': 'xy;\n' };
    const shared = readMarked(files, 'y');
    assert.deepEqual((await planRename({ ...shared, engine, newName: 'y' })).candidateFiles, ['a.ts', 'b.ts']);
    const local = readMarked({ ...files, 'a.ts': 'export {};\nconst «*x» = 1;\n' }, 'y');
    assert.deepEqual((await planRename({ ...local, engine, newName: 'y' })).candidateFiles, ['a.ts']);
  });

  test('gives every edit the role of its token', async () => {
    const { files, target } = readMarked(
      {
        'a.ts': 'export const «*x» = { x: 1 };\n({ x });\nexport { x as z };\n',
        'b.ts': "import { x } from './a';\nimport * as n from './a';\nn.x;\nx;\n",
      },
      'y',
    );
    const { edits } = await planRename({ files, engine, target, newName: 'y' });
    assert.deepEqual(
      edits.map(({ role }) => role),
      ['definition', 'shorthand', 'export', 'import', 'member', 'reference'],
    );
  });

  test('stops when the caller gives up', async () => {
    const { files, target } = readMarked(plainProject(), 'y');
    const signal = AbortSignal.abort();
    await assert.rejects(planRename({ files, engine, target, newName: 'y', signal }), /cancelled/);
  });

  test('sees a project without files as one without the target', async () => {
    const target = { path: 'a.ts', nameStart: 0, name: 'x' };
    const plan = await planRename({ files: memoryFiles({}), engine, target, newName: 'y' });
    assert.equal(plan.refused?.reason, 'stale_target');
  });
});

function plainProject(): Record<string, string> {
  return { 'a.ts': 'export const «*x» = 1;\n' };
}
