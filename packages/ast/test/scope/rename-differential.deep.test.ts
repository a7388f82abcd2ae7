/**
 * The resolver against TypeScript 7 and Pyright: on random projects, on the sources of this repository, and on one fixture
 * for every reason why the two may differ. A difference without a reason fails.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { planRename } from '../../src/scope/rename/plan-rename.ts';
import type { RenameTarget } from '../../src/scope/rename/rename-plan.ts';
import { resolveScopes } from '../../src/scope/resolve-scopes.ts';
import { createEngine } from '../../src/symbols/engine.ts';
import { diskFiles, exportedIn, TS_PROJECT, write } from './disk-project.ts';
import { generatePython } from './generate-python.ts';
import { generateTypeScript } from './generate-typescript.ts';
import { LanguageServerClient, type ServerEdit } from './language-server-client.ts';
import { memoryFiles, readMarked } from './marked-project.ts';
import {
  describeTally,
  differences,
  explain,
  inComment,
  inProject,
  newTally,
  pastTheList,
  pastTheReexport,
  type Reason,
  wrongSide,
} from './rename-comparison.ts';

const PACKAGES = fileURLToPath(new URL('../../../', import.meta.url));
const engine = createEngine();
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'rename-')));
after(async () => {
  await engine.delete();
  rmSync(scratch, { recursive: true, force: true });
});

const NEW_NAME = 'renamedByTest';
const TARGETS_PER_PROJECT = 8;
const tapes = fc.array(fc.nat({ max: 9_999 }), { minLength: 120, maxLength: 120 });

/** Definitions of a project, spread over all of them. */
async function targetsIn(texts: Readonly<Record<string, string>>, limit: number): Promise<RenameTarget[]> {
  const targets: RenameTarget[] = [];
  for (const [path, text] of Object.entries(texts)) {
    const language = engine.detect(path);
    if (language === undefined || !/\.(?:tsx?|py)$/.test(path)) continue;
    const parsed = await engine.parse({ path, language, bytes: Buffer.from(text) });
    const { tokens, source } = resolveScopes(parsed);
    for (const { role, binding, name, start } of tokens) {
      if (role !== 'definition' || binding?.scope.kind === 'class' || binding?.isMember) continue;
      // Names that the language itself reads, which are never renamed.
      if (/^__\w+__$/.test(name)) continue;
      targets.push({ path, nameStart: source.toByte(start), name });
    }
    parsed.delete();
  }
  const step = Math.max(1, targets.length / limit);
  return Array.from({ length: Math.min(limit, targets.length) }, (_, n) => targets[Math.floor(n * step)]).filter(
    (target) => target !== undefined,
  );
}

describe('the resolver and TypeScript 7 [S0-54]', () => {
  const root = join(scratch, 'ts');
  mkdirSync(root);
  const server = new LanguageServerClient('tsc', ['--lsp', '--stdio'], root);
  after(() => server.stop());
  const started = server.start();
  let projects = 0;

  /** What the server would do in a project of its own, with paths as the project has them. */
  async function ask(folder: string, target: RenameTarget): Promise<readonly ServerEdit[] | undefined> {
    await started;
    const edits = await server.rename(`${folder}/${target.path}`, target.nameStart, NEW_NAME);
    return edits?.map((edit) => ({ ...edit, path: edit.path.slice(folder.length + 1) }));
  }

  test('agree on random projects', async (t) => {
    const tally = newTally();
    const seed = randomInt(2 ** 31);
    t.diagnostic(`seed ${seed}`);
    await fc.assert(
      fc.asyncProperty(tapes, async (tape) => {
        const texts = { ...TS_PROJECT, ...generateTypeScript(tape) };
        const folder = `p${projects++}`;
        write(join(root, folder), texts);
        const files = memoryFiles(texts);
        for (const target of await targetsIn(texts, TARGETS_PER_PROJECT)) {
          await inProject(texts, target, async () => {
            const plan = await planRename({ files, engine, target, newName: NEW_NAME });
            assert.equal(plan.refused, undefined);
            const edits = await ask(folder, target);
            assert.ok(edits, 'The server renames nothing');
            const reasons = [inComment, wrongSide, pastTheList, pastTheReexport];
            explain(differences(plan, edits, files), plan, reasons, tally);
          });
        }
      }),
      // The project is printed whole. Making it smaller takes minutes with a server.
      { numRuns: 40, seed, endOnFailure: true },
    );
    t.diagnostic(describeTally(tally));
    assert.ok(tally.compared > 60);
  });

  test('agree on the sources of this repository', async (t) => {
    const folder = 'repository';
    for (const name of ['protocol', 'sdk']) {
      cpSync(join(PACKAGES, name, 'src'), join(root, folder, 'packages', name, 'src'), { recursive: true });
      cpSync(join(PACKAGES, name, 'package.json'), join(root, folder, 'packages', name, 'package.json'));
    }
    const paths = {
      '@tool-runtime/protocol': ['./packages/protocol/src/index.ts'],
      '@tool-runtime/sdk': ['./packages/sdk/src/index.ts'],
    };
    const config = JSON.parse(TS_PROJECT['tsconfig.json']) as { compilerOptions: object };
    write(join(root, folder), {
      'tsconfig.json': JSON.stringify({ ...config, compilerOptions: { ...config.compilerOptions, paths } }),
    });
    const files = diskFiles(join(root, folder));
    const tally = newTally();
    for (const target of await exportedIn(
      engine,
      files,
      /^packages\/(?:protocol\/src|sdk\/src\/(?:glob|text|git))\//,
      40,
    )) {
      const plan = await planRename({ files, engine, target, newName: NEW_NAME });
      const edits = plan.refused === undefined ? await ask(folder, target) : undefined;
      if (plan.refused === undefined) explain(differences(plan, edits ?? [], files), plan, [inComment], tally);
      else {
        assert.equal(plan.refused.reason, 'parse_error', plan.refused.message);
        tally.refused++;
      }
    }
    t.diagnostic(describeTally(tally));
    assert.ok(tally.compared > 20);
  });

  interface Known {
    readonly title: string;
    readonly files: Readonly<Record<string, string>>;
    readonly reason: Reason;
  }

  const KNOWN: readonly Known[] = [
    {
      title: 'doc comments',
      files: {
        'a.ts': '/** {@link «*x»} */\nexport const x = 1;\n'.replace('«*x»', 'x').replace('const x', 'const «*x»'),
      },
      reason: inComment,
    },
    {
      title: 'a shorthand that names a class',
      files: { 'a.ts': 'export class «*g» {}\nconst v = { g };\n' },
      reason: wrongSide,
    },
    {
      title: 'a destructured name behind an export list',
      files: { 'a.ts': 'const { «*g» } = { g: 1 };\nexport { g };\n', 'b.ts': "import * as n from './a.ts';\nn.g;\n" },
      reason: pastTheList,
    },
    {
      title: 'a namespace with a re-export, in a file that also imports the module itself',
      files: {
        'a.ts': 'export const «*g» = 1;\n',
        'b.ts': "export { g } from './a.ts';\n",
        'c.ts': "import * as own from './a.ts';\nimport * as n from './b.ts';\nn.g;\n",
      },
      reason: pastTheReexport,
    },
    {
      title: 'a redundant alias in an export list, which the server renames too, and with it what others import',
      files: { 'a.ts': 'export const «*x» = 1;\n', 'b.ts': "export { x as x } from './a.ts';\n" },
      reason: {
        name: 'redundant export alias',
        explains: ({ by, before }) => by === 'server' && before === 'export { x as ',
      },
    },
    {
      title: 'members of a variable whose type is a module',
      files: { 'a.ts': 'export const «*x» = 1;\n', 'b.ts': "import * as n from './a.ts';\nlet copy = n;\ncopy.x;\n" },
      reason: {
        name: 'value flow',
        explains: ({ by, before }, { residual }) =>
          by === 'server' && before === 'copy.' && residual.some(({ kind }) => kind === 'member'),
      },
    },
    {
      title: 'an import merged with a declaration, which the resolver gives an alias',
      files: {
        'a.ts': 'export const «*x» = 1;\n',
        'b.ts': "import { x } from './a.ts';\nnamespace x { export const z = 1; }\nx;\n",
      },
      reason: { name: 'merged import', explains: ({ path }) => path === 'b.ts' },
    },
    {
      title: 'require of a module in JavaScript, which the server does not follow',
      files: { 'a.ts': 'export const «*x» = 1;\n', 'b.cjs': "const { x } = require('./a.ts');\nx;\n" },
      reason: { name: 'require', explains: ({ by, path }) => by === 'resolver' && path === 'b.cjs' },
    },
    {
      title: 'files outside of the project of the server',
      files: {
        'tsconfig.json': '{ "files": ["a.ts"] }',
        'a.ts': 'export const «*x» = 1;\n',
        'b.ts': "import { x } from './a';\nx;\n",
      },
      reason: { name: 'outside of the project', explains: ({ by, path }) => by === 'resolver' && path === 'b.ts' },
    },
    {
      title: 'a global of a script, which the resolver only reports',
      files: {
        'tsconfig.json': '{ "compilerOptions": { "moduleDetection": "auto" } }',
        'a.ts': 'const «*x» = 1;\n',
        'b.ts': 'x;\n',
      },
      reason: {
        name: 'script',
        explains: ({ by, path }, { residual }) =>
          by === 'server' && path === 'b.ts' && residual.some(({ kind }) => kind === 'code'),
      },
    },
  ];
  for (const { title, files: marked, reason } of KNOWN) {
    test(`differ, for a reason, in ${title}`, async () => {
      const folder = `p${projects++}`;
      const { files, texts, target } = readMarked({ ...TS_PROJECT, ...marked }, NEW_NAME);
      write(join(root, folder), texts);
      const plan = await planRename({ files, engine, target, newName: NEW_NAME });
      const found = differences(plan, (await ask(folder, target)) ?? [], files);
      assert.notEqual(found.length, 0, 'the reason is gone');
      explain(found, plan, [reason], newTally());
    });
  }
});

describe('the resolver and Pyright [S0-54]', () => {
  const quoted: Reason = {
    name: 'quoted types outside of annotations are reported',
    explains: ({ by, before }, { residual }) =>
      by === 'server' && /['"]$/.test(before) && residual.some(({ kind }) => kind === 'string'),
  };

  test('agree on random packages, and differ for reasons', async (t) => {
    const root = join(scratch, 'py');
    const samples = fc.sample(tapes, { numRuns: 8, seed: 20_261_115 }).map((tape, n) => generatePython(`p${n}`, tape));
    const known = knownPython();
    const texts: Record<string, string> = { 'pyrightconfig.json': '{ "include": ["."] }' };
    Object.assign(texts, ...samples, ...known.map((one) => one.project.texts));
    write(root, texts);
    const server = new LanguageServerClient('pyright-langserver', ['--stdio'], root);
    t.after(() => server.stop());
    await server.start({ readyAfter: { path: 'p0/a.py', log: /Found \d+ source file/ } });
    const files = memoryFiles(texts);
    const tally = newTally();
    for (const sample of samples) {
      for (const target of await targetsIn(sample, TARGETS_PER_PROJECT)) {
        const plan = await planRename({ files, engine, target, newName: NEW_NAME });
        const edits = await server.rename(target.path, target.nameStart, NEW_NAME);
        if (edits !== undefined && plan.refused === undefined)
          explain(differences(plan, edits, files), plan, [], tally);
        else {
          // The name of a module: Pyright leaves it alone, the resolver refuses it or gives it an alias.
          const isModule =
            plan.refused?.reason === 'needs_server' || plan.edits.some(({ newText }) => / as /.test(newText));
          assert.ok(isModule && edits === undefined, `${target.name} in ${target.path}`);
          tally.refused++;
        }
      }
    }
    t.diagnostic(describeTally(tally));
    assert.ok(tally.compared > 30);
    for (const { title, project, reason } of known) {
      await t.test(`differ, for a reason, in ${title}`, async () => {
        const plan = await planRename({ files, engine, target: project.target, newName: NEW_NAME });
        const edits = await server.rename(project.target.path, project.target.nameStart, NEW_NAME);
        const found = differences(plan, edits ?? [], files);
        assert.notEqual(found.length, 0, 'the reason is gone');
        explain(found, plan, [reason], newTally());
      });
    }
  });

  function knownPython() {
    const make = (title: string, marked: Readonly<Record<string, string>>, reason: Reason) => ({
      title,
      project: readMarked(marked, NEW_NAME),
      reason,
    });
    return [
      make(
        'quoted types outside of annotations',
        {
          'k1.py': "from typing import Callable, TypeAlias\nclass «*Kq»: ...\nF: TypeAlias = Callable[['Kq'], None]\n",
        },
        quoted,
      ),
      make(
        'keywords of methods, which the resolver only reports',
        { 'k2.py': 'class C:\n    def m(self, «*word»): return word\nC().m(word=1)\n' },
        {
          name: 'keyword of a method',
          explains: ({ by, after }, { residual }) =>
            by === 'server' && after.startsWith('word=1') && residual.some(({ kind }) => kind === 'member'),
        },
      ),
      make(
        'a submodule that is reached without being imported by name',
        {
          'k3/__init__.py': 'from .outer import other\n',
          'k3/outer.py': 'from .inner import other\n',
          'k3/inner.py': '«*deep» = 1\nother = 2\n',
          'k3_user.py': 'import k3\nk3.inner.deep\n',
        },
        { name: 'implicit submodule', explains: ({ by, before }) => by === 'resolver' && before === 'k3.inner.' },
      ),
      make(
        'a name that comes with a star, is assigned again and imported from there',
        {
          'k5/__init__.py': '',
          'k5/a.py': '«*again» = 1\n',
          'k5/b.py': 'from k5.a import *\ndef f():\n    global again\n    again = 2\n',
          'k5/c.py': 'from k5.b import again\n',
        },
        { name: 'assigned again', explains: ({ by, path }) => by === 'resolver' && path === 'k5/c.py' },
      ),
      make(
        'a quoted annotation with the name of a parameter around',
        { 'k6.py': "word6 = 1\ndef f(«*word6»):\n    def g(x) -> 'word6': return x\n" },
        { name: 'quoted parameter', explains: ({ by, before }) => by === 'resolver' && before.endsWith("'") },
      ),
      make(
        'aliases of one module in two files',
        { 'k7a.py': 'import k1 as «*mod7»\n', 'k7b.py': 'import k1 as mod7\n' },
        { name: 'same alias elsewhere', explains: ({ by, path }) => by === 'server' && path === 'k7b.py' },
      ),
      make(
        'an import beside a fallback',
        { 'k4.py': 'try:\n    from os import «*fast»\nexcept ImportError:\n    fast = None\nprint(fast)\n' },
        { name: 'import beside a fallback', explains: ({ by }) => by !== 'server' },
      ),
    ];
  }
});
