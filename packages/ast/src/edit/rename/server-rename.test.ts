import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { refusal } from '../../../test/edit-case.ts';
import { openScratchEditor } from '../../../test/scratch-editor.ts';
import { openScratchServers, type Script, type Step, scripted } from '../../../test/scratch-servers.ts';
import { KNOWN_PROVIDERS } from '../../lsp/known-providers.ts';

type Files = Readonly<Record<string, string>>;

const A = 'export function load() {\n  return load;\n}\nexport class K {\n  run() {}\n}\n';
const B = "import { load, K } from './a.ts';\nload();\nnew K().run();\n";
const FILES: Files = { 'a.ts': A, 'b.ts': B };

/** Line and character of every edit, from 0; the length is that of the name. */
type Place = readonly [line: number, character: number];

function answer(name: string, newText: string, places: Readonly<Record<string, readonly Place[]>>): Step {
  const changes = Object.entries(places).map(([path, own]) => [
    `@uri:${path}`,
    own.map(([line, character]) => ({
      range: { start: { line, character }, end: { line, character: character + name.length } },
      newText,
    })),
  ]);
  return { answer: { changes: Object.fromEntries(changes) } };
}

const WHOLE = {
  'a.ts': [
    [0, 16],
    [1, 9],
  ],
  'b.ts': [
    [0, 9],
    [1, 0],
  ],
} as const;
const MEMBER = { 'a.ts': [[4, 2]], 'b.ts': [[2, 8]] } as const;

async function open(t: TestContext, on: NonNullable<Script['on']>, files: Files = FILES) {
  const provider = scripted({ on }, { documents: { '.ts': 'typescript' }, languages: ['typescript'] });
  const servers = openScratchServers(t, { files, providers: [provider] });
  const scratch = await openScratchEditor(
    t,
    {},
    { root: servers.root, servers: servers.manager, serverTimeoutMs: 3_000 },
  );
  const rename = async (name: string, new_name: string, more: { on_residual?: 'report' } = {}) =>
    scratch.editor.plan({
      operation: 'rename_symbol',
      target_node_id: await scratch.id(name, { file: 'a.ts' }),
      new_name,
      ...more,
    });
  return { ...scratch, rename };
}

const renames = (...steps: readonly Step[]) => ({ 'textDocument/rename': [steps] });
const definitions = (steps: readonly Step[]) => ({ 'textDocument/definition': [steps] });
const touched = ({ files }: { files: readonly { path: string }[] }) => files.map(({ path }) => path);

describe('rename_symbol with a language server', () => {
  test('is proven when both plans agree [S0-54]', async (t) => {
    const { rename, editor, workspace, read } = await open(t, renames(answer('load', 'fetch', WHOLE)));
    const plan = await rename('load', 'fetch');
    assert.deepEqual([plan.confidence, plan.edits, plan.warnings], ['proven', 4, []]);
    await editor.apply(plan, workspace);
    assert.equal(read('b.ts'), B.replaceAll('load', 'fetch'));
  });

  test('takes what imports lead to although the server left it out [S0-54]', async (t) => {
    const { rename } = await open(t, renames(answer('load', 'fetch', { 'a.ts': WHOLE['a.ts'] })));
    const plan = await rename('load', 'fetch');
    assert.deepEqual([plan.confidence, touched(plan)], ['resolver', ['a.ts', 'b.ts']]);
    assert.match(plan.warnings[0] ?? '', /left out 2 places .* b\.ts/);
  });

  test('refuses when the server misses a use in the file itself [S0-54]', async (t) => {
    const { rename } = await open(t, renames(answer('load', 'fetch', { ...WHOLE, 'a.ts': [[0, 16]] })));
    await assert.rejects(rename('load', 'fetch'), refusal('plans_differ'));
  });

  test('refuses when the server would rename another variable [S0-54]', async (t) => {
    const files = { ...FILES, 'a.ts': `${A}const f = (load: any) => load;\n` };
    const { rename } = await open(
      t,
      renames(answer('load', 'fetch', { ...WHOLE, 'a.ts': [...WHOLE['a.ts'], [6, 11]] })),
      files,
    );
    await assert.rejects(rename('load', 'fetch'), refusal('plans_differ'));
  });

  test('takes members that only the server knows [S0-54]', async (t) => {
    const files = { ...FILES, 'b.ts': `${B}declare const m: any;\nm.load();\n` };
    const { rename } = await open(
      t,
      renames(answer('load', 'fetch', { ...WHOLE, 'b.ts': [...WHOLE['b.ts'], [4, 2]] })),
      files,
    );
    const plan = await rename('load', 'fetch');
    assert.deepEqual([plan.confidence, plan.edits], ['server', 5]);
  });

  test('leaves what an export keeps under the old name, although the server renames it [S0-54]', async (t) => {
    const files = {
      'a.ts': 'export const load = 1;\n',
      'b.ts': "export { load } from './a.ts';\n",
      'c.ts': "import * as a from './a.ts';\nimport * as n from './b.ts';\nn.load + a.load;\n",
    };
    const list = answer('load', 'fetch as load', { 'b.ts': [[0, 9]] });
    const past = answer('load', 'fetch', {
      'a.ts': [[0, 13]],
      'c.ts': [
        [2, 2],
        [2, 11],
      ],
    });
    const changes = [list, past].map((step) => (step['answer'] as { changes: object }).changes);
    const { rename, editor, workspace, read } = await open(
      t,
      renames({ answer: { changes: Object.assign({}, ...changes) } }),
      files,
    );
    const plan = await rename('load', 'fetch');
    assert.match(plan.warnings.join(), /1 places that an export keeps as they are: c\.ts/);
    assert.equal(plan.confidence, 'resolver');
    await editor.apply(plan, workspace);
    assert.equal(read('b.ts'), "export { fetch as load } from './a.ts';\n");
    assert.match(read('c.ts'), /^n\.load \+ a\.fetch;$/m);
  });

  test('refuses a member of unknown origin where an export keeps the old name [S0-54]', async (t) => {
    const files = {
      'a.ts': 'export const load = 1;\n',
      'b.ts': "export { load } from './a.ts';\n",
      'c.ts': "import * as n from './b.ts';\ndeclare const f: () => typeof n;\nf().load;\n",
    };
    const list = answer('load', 'fetch as load', { 'b.ts': [[0, 9]] });
    const past = answer('load', 'fetch', { 'a.ts': [[0, 13]], 'c.ts': [[2, 4]] });
    const changes = [list, past].map((step) => (step['answer'] as { changes: object }).changes);
    const { rename } = await open(t, renames({ answer: { changes: Object.assign({}, ...changes) } }), files);
    await assert.rejects(rename('load', 'fetch'), refusal('plans_differ'));
  });

  test('refuses a plan that writes something else at the same places [S0-54]', async (t) => {
    const { rename } = await open(t, renames(answer('load', 'evil', WHOLE)));
    await assert.rejects(rename('load', 'fetch'), refusal('plans_differ'));
  });

  for (const [how, steps] of [
    ['dies', [{ die: 1 }]],
    ['is mute', []],
    ['answers nonsense', [{ answer: { changes: 7 } }]],
    ['would change nothing', [{ answer: null }]],
  ] as const) {
    test(`goes by scope alone when the server ${how} [S0-54] (deep)`, async (t) => {
      const { rename } = await open(t, renames(...steps));
      const plan = await rename('load', 'fetch');
      assert.deepEqual([plan.confidence, touched(plan)], ['resolver', ['a.ts', 'b.ts']]);
      assert.match(plan.warnings[0] ?? '', /^planned without the language server/);
    });
  }

  test('takes no for an answer [S0-54]', async (t) => {
    const { rename, snapshot } = await open(
      t,
      renames({ error: { code: -32803, message: 'would break an interface' } }),
    );
    const before = snapshot();
    await assert.rejects(rename('load', 'fetch'), refusal('server_refused'));
    assert.deepEqual(snapshot(), before);
  });

  test('refuses an edit outside of the workspace [S0-54]', async (t) => {
    const { rename } = await open(t, renames({ answer: { changes: { 'file:///etc/passwd': [] } } }));
    await assert.rejects(rename('load', 'fetch'), refusal('edit_outside_workspace'));
  });

  test('never edits ignored files, and refuses because of them by default [S0-54]', async (t) => {
    const files = { ...FILES, '.gitignore': 'out/\n', 'out/a.ts': A };
    const { rename } = await open(t, renames(answer('load', 'fetch', { ...WHOLE, 'out/a.ts': [[0, 16]] })), files);
    await assert.rejects(rename('load', 'fetch'), refusal('residual'));
    const plan = await rename('load', 'fetch', { on_residual: 'report' });
    assert.deepEqual(
      [touched(plan), plan.residual],
      [['a.ts', 'b.ts'], [{ file: 'out/a.ts', line: 1, col: 17, kind: 'generated' }]],
    );
  });

  test('answers E_TIMEOUT for a member when the server is mute [S0-54] (deep)', async (t) => {
    const { rename } = await open(t, renames());
    await assert.rejects(rename('run', 'walk'), refusal('request_timeout', 'E_TIMEOUT'));
  });

  test('renames a member by the server [S0-54]', async (t) => {
    const { rename } = await open(t, renames(answer('run', 'walk', MEMBER)));
    const plan = await rename('run', 'walk');
    assert.deepEqual([plan.confidence, plan.edits, plan.residual], ['server', 2, []]);
  });

  test('refuses when the server left out a use that it knows itself [S0-54]', async (t) => {
    const home = { uri: '@uri:a.ts', range: { start: { line: 4, character: 2 }, end: { line: 4, character: 5 } } };
    const on = { ...renames(answer('run', 'walk', { 'a.ts': MEMBER['a.ts'] })), ...definitions([{ answer: home }]) };
    const { rename } = await open(t, on);
    await assert.rejects(rename('run', 'walk'), refusal('server_partial'));
  });

  test('refuses when a use cannot be located, and reports it on request [S0-54]', async (t) => {
    const on = { ...renames(answer('run', 'walk', { 'a.ts': MEMBER['a.ts'] })), ...definitions([{ answer: null }]) };
    const { rename } = await open(t, on);
    await assert.rejects(rename('run', 'walk'), refusal('residual'));
    const plan = await rename('run', 'walk', { on_residual: 'report' });
    assert.deepEqual(plan.residual, [{ file: 'b.ts', line: 3, col: 9, kind: 'member' }]);
  });

  test('leaves a member of the same name that the server knows to be another [S0-54]', async (t) => {
    const other = { uri: '@uri:b.ts', range: { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } } };
    const on = { ...renames(answer('run', 'walk', { 'a.ts': MEMBER['a.ts'] })), ...definitions([{ answer: other }]) };
    const { rename } = await open(t, on);
    assert.deepEqual((await rename('run', 'walk')).residual, []);
  });

  test('refuses a member name that the class has already [S0-54]', async (t) => {
    const files = { ...FILES, 'a.ts': A.replace('run() {}', 'run() {}\n  walk() {}') };
    const { rename } = await open(t, renames(answer('run', 'walk', MEMBER)), files);
    await assert.rejects(rename('run', 'walk'), refusal('name_conflict'));
  });

  test('refuses an answer that does not rename the declaration [S0-54]', async (t) => {
    const { rename } = await open(t, renames(answer('run', 'walk', { 'b.ts': MEMBER['b.ts'] })));
    await assert.rejects(rename('run', 'walk'), refusal('residual'));
    await assert.rejects(rename('run', 'walk', { on_residual: 'report' }), refusal('declaration_kept'));
  });

  test('agrees with TypeScript 7 and leaves a partner project outside of it right [S0-54] (deep)', async (t) => {
    const files = {
      'tsconfig.json':
        '{"compilerOptions":{"allowImportingTsExtensions":true,"noEmit":true,"module":"esnext","target":"esnext","moduleResolution":"bundler"},"exclude":["test"]}',
      'package.json': '{"type":"module"}',
      ...FILES,
      'test/t.ts': "import { load, K } from '../a.ts';\nload();\n",
    };
    const servers = openScratchServers(t, {
      files,
      providers: KNOWN_PROVIDERS.filter(({ name }) => name === 'typescript'),
    });
    const { editor, id } = await openScratchEditor(t, {}, { root: servers.root, servers: servers.manager });
    const wide = await editor.plan({ operation: 'rename_symbol', target_node_id: await id('load'), new_name: 'fetch' });
    assert.deepEqual([wide.confidence, touched(wide)], ['resolver', ['a.ts', 'b.ts', 'test/t.ts']]);
    const member = await editor.plan({ operation: 'rename_symbol', target_node_id: await id('run'), new_name: 'walk' });
    assert.deepEqual([member.confidence, touched(member)], ['server', ['a.ts', 'b.ts']]);
  });
});
