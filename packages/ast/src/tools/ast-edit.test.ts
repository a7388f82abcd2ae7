/** The tool around the editor: what it lets run, what it answers, what it takes back. Operations are tested in edit/. */
import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type CodeRuntime, type Files, openCodeRuntime } from '../../test/code-runtime.ts';

interface Answer {
  readonly edited: boolean;
  readonly files_touched: readonly string[];
  readonly edits: number;
  readonly confidence: string;
  readonly renamed_ids: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
  readonly diff?: string;
  readonly build?: string;
  readonly diagnostics?: readonly { file: string; line: number; severity: string }[];
}

const FILES = {
  'src/a.ts': 'export function load(): number {\n  return 1;\n}\n',
  'src/b.ts': "import { load } from './a.ts';\n\nexport const one = load();\n",
  'tsconfig.json': '{ "compilerOptions": { "strict": true, "noEmit": true, "allowImportingTsExtensions": true } }\n',
};
const PROGRAMS = { programs: true, registry: 'side_effect_level: process_exec\nisolation: none' } as const;

const edit = (code: CodeRuntime, args: object) => code.ask<Answer>('ast_edit', args);

async function idOf(code: CodeRuntime, name: string): Promise<string> {
  const { nodes } = await code.ask<{ nodes: { id: string }[] }>('ast_query', { where: { name_like: name } });
  assert.equal(nodes.length, 1, name);
  return nodes[0]?.id ?? '';
}

const rename = async (code: CodeRuntime, name: string, newName: string, more: object = {}) => ({
  operation: 'rename_symbol',
  target_node_id: await idOf(code, name),
  new_name: newName,
  ...more,
});

const contents = (code: CodeRuntime, files: Files) =>
  Object.fromEntries(Object.keys(files).map((path) => [path, code.read(path)]));

describe('ast_edit [S0-54]', () => {
  test('answers the example of the specification: a rename in all files, formatter and build asked for [S0-54]', async () => {
    await using code = await openCodeRuntime(FILES);
    const more = { format_on_save: true, validate_build: true };
    const { data, warnings } = await code.call('ast_edit', await rename(code, 'load', 'fetchAll', more));
    const answer = data as unknown as Answer;
    assert.deepEqual([answer.edited, answer.files_touched, answer.edits], [true, ['src/a.ts', 'src/b.ts'], 3]);
    assert.equal(code.read('src/b.ts'), FILES['src/b.ts'].replaceAll('load', 'fetchAll'));
    assert.deepEqual(
      warnings.map(({ message }) => message),
      ['Not formatted: this registry does not allow programs', 'Not built: this registry does not allow programs'],
    );
    const [[old, fresh] = ['', '']] = Object.entries(answer.renamed_ids);
    assert.equal(fresh, await idOf(code, 'fetchAll'), 'the index knows at once');
    const stale = await code.refusal('ast_edit', { operation: 'rename_symbol', target_node_id: old, new_name: 'x' });
    assert.deepEqual([stale.code, stale.details?.['reason']], ['E_AST_EDIT', 'stale_node']);
  });

  test('an unknown operation is E_AST_EDIT, a stale id too, wrong arguments E_VALIDATION_FAIL [S0-54]', async () => {
    await using code = await openCodeRuntime(FILES);
    const unknown = await code.refusal('ast_edit', { operation: 'beautify' });
    assert.deepEqual([unknown.code, unknown.details?.['reason']], ['E_AST_EDIT', 'unknown_operation']);
    const stale = { operation: 'rename_symbol', target_node_id: 'n000000000000', new_name: 'x' };
    assert.equal((await code.refusal('ast_edit', stale)).code, 'E_AST_EDIT');
    const target_node_id = await idOf(code, 'load');
    const other = { operation: 'set_doc', target_node_id, text: 'Loads.', expected_rev: 'rOther' };
    assert.equal((await code.refusal('ast_edit', other)).details?.['reason'], 'stale_node');
    for (const args of [
      { operation: 'rename_symbol', target_node_id },
      { operation: 'set_doc', target_node_id, text: 'x', new_name: 'y' },
      { operation: 'set_doc', target_node_id, text: 'x', colour: 'red' },
      {},
    ]) {
      assert.equal((await code.refusal('ast_edit', args)).code, 'E_VALIDATION_FAIL', JSON.stringify(args));
    }
    assert.deepEqual(contents(code, FILES), FILES);
    await edit(code, { operation: 'set_doc', target_node_id, text: 'Loads.' });
    assert.match(code.read('src/a.ts'), /^\/\*\*/);
  });

  test('a dry run answers the diff, writes nothing and is open to sessions that may only read [S0-54]', async () => {
    await using code = await openCodeRuntime(FILES, { registry: 'side_effect_level: read_only' });
    const args = await rename(code, 'load', 'fetchAll', { dry_run: true });
    const answer = await edit(code, args);
    assert.deepEqual([answer.edited, answer.files_touched], [false, ['src/a.ts', 'src/b.ts']]);
    assert.match(String(answer.diff), /^-export const one = load\(\);\n\+export const one = fetchAll\(\);$/m);
    assert.deepEqual(contents(code, FILES), FILES);
    assert.equal((await code.refusal('ast_edit', { ...args, dry_run: false })).code, 'E_POLICY');
  });

  test('a batch is one edit: what breaks a rule afterwards is taken back in every file [S0-54 S0-63]', async () => {
    const registry = 'validators: [{rule: house.no.rename, enforcement: blocking}]';
    const rules = [
      {
        id: 'house.no.rename',
        category: 'House',
        description: 'b.ts stays as it is',
        phase: 'after' as const,
        trigger: 'after a write',
        defaultEnforcement: 'blocking' as const,
        appliesTo: ({ changes }: { readonly changes: readonly { readonly path: string }[] }) =>
          changes.some(({ path }) => path === 'src/b.ts'),
        check: () => [{ message: 'No: src/b.ts', path: 'src/b.ts' }],
      },
    ];
    await using code = await openCodeRuntime(FILES, { registry, runtime: { rules } });
    const [load, one] = [await idOf(code, 'load'), await idOf(code, 'one')];
    const operations = [
      { operation: 'set_doc', target_node_id: load, text: 'Loads.' },
      { operation: 'rename_symbol', target_node_id: one, new_name: 'first' },
    ];
    const error = await code.refusal('ast_edit', { operation: 'batch', operations });
    assert.deepEqual([error.message, error.details?.['rolled_back']], ['No: src/b.ts', true]);
    assert.deepEqual(contents(code, FILES), FILES);
    assert.equal(await idOf(code, 'one'), one, 'the index is back where it was');
    await edit(code, { operation: 'batch', operations: operations.slice(0, 1) });
    assert.notEqual(code.read('src/a.ts'), FILES['src/a.ts']);
  });

  test('formats by the command of the registry, and leaves what was not formatted before [S0-21 S0-54]', async () => {
    const registry = `${PROGRAMS.registry}\ncommands: {format.typescript: house-format}\nast: {format_on_save: true}`;
    await using code = await openCodeRuntime(
      { 'a.ts': 'export const a = 1;\n', 'dirty.ts': 'export  const  b = 2;\n', 'c.py': 'def c():\n    return 1\n' },
      { programs: true, registry },
    );
    code.program('house-format', `test "$1" != "" || exit 3\nsed 's/  */ /g'`);
    const text = 'export  const   a = 2;';
    const target = async (name: string) => ({ operation: 'replace_symbol', target_node_id: await idOf(code, name) });
    const plain = await edit(code, { ...(await target('a')), text, server: 'never' });
    assert.deepEqual([code.read('a.ts'), plain.warnings], ['export const a = 2;\n', []]);
    const dirty = await edit(code, { ...(await target('b')), text: 'export  const  b = 3;' });
    assert.equal(code.read('dirty.ts'), 'export  const  b = 3;\n');
    assert.match(dirty.warnings.join(), /not formatted, it was not before either: dirty\.ts/);
    const python = await edit(code, { ...(await target('c')), text: 'def c():\n    return 2' });
    assert.match(python.warnings.join(), /no formatter: c\.py/);
    const off = await edit(code, { ...(await target('a')), text, format_on_save: false });
    assert.deepEqual([code.read('a.ts'), off.warnings], [`${text}\n`, []]);
    code.program('house-format', 'echo no >&2; exit 1');
    code.write({ 'a.ts': 'export const a = 1;\n' });
    await code.ask('ast_generate', {});
    const failed = await edit(code, { ...(await target('a')), text });
    assert.match(failed.warnings.join(), /house-format failed/);
    assert.equal(code.read('a.ts'), `${text}\n`, 'a failing formatter loses no edit');
  });

  test('takes an edit back that breaks the build, and not one in a build that was broken before [S0-54]', async () => {
    const registry = `${PROGRAMS.registry}\ncommands: {build: house-build}`;
    await using code = await openCodeRuntime(FILES, { programs: true, registry });
    code.program('house-build', `grep -q BROKEN src/*.ts && { echo 'src/a.ts: BROKEN' >&2; exit 1; }\nexit 0`);
    const target_node_id = await idOf(code, 'load');
    const text = 'export function load(): number {\n  return 1; // BROKEN\n}';
    const args = { operation: 'replace_symbol', target_node_id, text, validate_build: true };
    const error = await code.refusal('ast_edit', args);
    assert.deepEqual([error.code, error.details?.['reason']], ['E_VALIDATION_FAIL', 'build_failed']);
    assert.match(String(error.details?.['output']), /BROKEN/);
    assert.deepEqual(contents(code, FILES), FILES);
    const good = await edit(code, { ...args, text: text.replace('1; // BROKEN', '3;') });
    assert.equal(good.build, 'passed');
    await edit(code, { ...args, validate_build: false });
    const again = await edit(code, { ...args, text: text.replace('1', '2') });
    assert.deepEqual([again.build, again.edited], ['failed_before', true]);
  });

  test('a language server that agrees makes a rename proven; a running one says what is new and wrong [S0-54] (deep)', async () => {
    const registry = `${PROGRAMS.registry}\nast: {diagnostics_wait_ms: 10000}`;
    await using code = await openCodeRuntime(FILES, { programs: true, registry });
    const answer = await edit(code, await rename(code, 'load', 'fetchAll'));
    assert.deepEqual([answer.confidence, answer.edits], ['proven', 3]);
    const alone = await edit(code, await rename(code, 'fetchAll', 'load', { server: 'never' }));
    assert.equal(alone.confidence, 'resolver');
    const target_node_id = await idOf(code, 'load');
    const text = 'export function load(): number {\n  return "1";\n}';
    const { diagnostics } = await edit(code, { operation: 'replace_symbol', target_node_id, text });
    assert.deepEqual(
      diagnostics?.map(({ file, line, severity }) => [file, line, severity]),
      [['src/a.ts', 2, 'error']],
    );
    const same = await edit(code, { operation: 'set_doc', target_node_id, text: 'Loads.' });
    assert.deepEqual(same.diagnostics, [], 'what was wrong before is not new');
  });

  test('a member is not renamed past objects that may be passed as its type, until that is asked for [S0-54] (deep)', async () => {
    const types =
      'export interface Scene { info: number; size: number; note?: string }\n' +
      'export interface Other { info: number; size: number }\n' +
      'export const show = (scene: Scene) => scene.info;\n';
    const open = (use: string) =>
      openCodeRuntime(
        { ...FILES, 'src/scene.ts': types, 'src/use.ts': `import { type Other, show } from './scene.ts';\n${use}` },
        PROGRAMS,
      );
    const request = { operation: 'rename_symbol', file: 'src/scene.ts', name: 'Scene.info', new_name: 'facts' };
    const more = { ...request, timeout_ms: 120_000 };
    const passed = [
      'const scene = { info: 1, size: 2 };\nshow(scene);\n',
      'const info = 1;\nconst scene = { info, size: 2 };\nshow(scene);\n',
      'const rest = { size: 2 };\nconst scene = { info: 1, ...rest };\nshow(scene);\n',
    ];
    for (const use of passed) {
      await using code = await open(use);
      const { details } = await code.refusal('ast_edit', more);
      assert.deepEqual([details?.['reason'], details?.['count']], ['residual', 1], use);
      assert.equal(code.read('src/scene.ts'), types);
    }
    const others = [
      'const size = { info: 1 };\nconsole.log(size);\n',
      'const other: Other = { info: 1, size: 2 };\nconsole.log(other);\n',
      'const info = 1;\nconst other: Other = { info, size: 2 };\nconsole.log(other);\n',
      'show({ info: 1, size: 2 });\n',
    ];
    for (const use of others) {
      await using code = await open(use);
      assert.equal((await edit(code, more)).confidence, 'server', use);
      assert.match(code.read('src/scene.ts'), /scene\.facts/);
    }
  });

  test('where programs may not run, a server that is required is refused and one that is not is left out [S0-54]', async () => {
    await using code = await openCodeRuntime(FILES);
    const args = await rename(code, 'load', 'fetchAll', { server: 'require' });
    assert.equal((await code.refusal('ast_edit', args)).code, 'E_POLICY');
    const action = { operation: 'code_action', file: 'src/a.ts', line: 1, kind: 'source.organizeImports' };
    assert.equal((await code.refusal('ast_edit', action)).code, 'E_POLICY');
    assert.equal((await edit(code, { ...args, server: 'auto' })).confidence, 'resolver');
  });

  test('keeps to the paths that may be written and to the workspace [S0-54]', async () => {
    const registry = 'approvals: {auto_approve: ["*"], write_path_allowlist: ["src/b.ts", "src/c.ts"]}';
    await using code = await openCodeRuntime(FILES, { registry });
    const add = { operation: 'add_import', source: './a.ts', name: 'load', alias: 'again' };
    assert.equal((await code.refusal('ast_edit', { ...add, file: 'src/a.ts' })).code, 'E_POLICY');
    const one = { operation: 'move_symbol', target_node_id: await idOf(code, 'load'), to_file: 'src/c.ts' };
    assert.equal((await code.refusal('ast_edit', one)).code, 'E_POLICY', 'it would also write src/a.ts');
    assert.equal((await code.refusal('ast_edit', { ...one, to_file: '../c.ts' })).code, 'E_POLICY');
    assert.deepEqual(contents(code, FILES), FILES);
    assert.equal((await edit(code, { ...add, file: 'src/b.ts' })).edited, true);
  });

  test('a constraint holds for every file a plan touches, also when no argument names it [S0-54]', async () => {
    const outside = { ...FILES, 'other/c.ts': "import { load } from '../src/a.ts';\n\nexport const two = load();\n" };
    const registry = 'arg_constraints: [{tool: ast_edit, arg_patterns: ["src/**"]}]';
    await using code = await openCodeRuntime(outside, { registry });
    for (const more of [{}, { dry_run: true }]) {
      const refused = await code.refusal('ast_edit', await rename(code, 'load', 'fetchAll', more));
      assert.deepEqual([refused.code, refused.details?.['reason']], ['E_POLICY', 'arg_constraint']);
    }
    const rewrite = { operation: 'rewrite', language: 'typescript', pattern: 'load()', replacement: 'load() + 1' };
    assert.equal((await code.refusal('ast_edit', rewrite)).code, 'E_POLICY');
    const add = { operation: 'add_import', source: './a.ts', name: 'load', alias: 'again' };
    const batch = (file: string) => ({ operation: 'batch', operations: [{ ...add, file }] });
    assert.equal((await code.refusal('ast_edit', batch('other/c.ts'))).code, 'E_POLICY');
    assert.deepEqual(contents(code, outside), outside);
    assert.equal((await edit(code, batch('src/b.ts'))).edited, true);
    assert.equal((await edit(code, { ...rewrite, paths: ['src/**'] })).edited, true);
    assert.equal(code.read('other/c.ts'), outside['other/c.ts']);
    assert.equal((await edit(code, await rename(code, 'one', 'first'))).edited, true);
  });

  test('a file that an edit would write through a link is judged by its target [S0-54]', async () => {
    const registry = 'arg_constraints: [{tool: ast_edit, arg_patterns: ["src/**"]}]';
    await using code = await openCodeRuntime({ ...FILES, 'other/c.ts': 'export const kept = 1;\n' }, { registry });
    symlinkSync('../other', join(code.workspace, 'src/link'));
    const add = { operation: 'add_import', source: './a.ts', name: 'load', alias: 'again' };
    assert.equal((await code.refusal('ast_edit', { ...add, file: 'src/link/c.ts' })).code, 'E_POLICY');
    const move = { operation: 'move_symbol', target_node_id: await idOf(code, 'one') };
    assert.equal((await code.refusal('ast_edit', { ...move, to_file: 'src/link/new.ts' })).code, 'E_POLICY');
    assert.equal(code.read('other/c.ts'), 'export const kept = 1;\n');
    assert.equal((await edit(code, { ...move, to_file: 'src/new.ts' })).edited, true);
  });

  test('edits of one workspace take turns [S0-77]', async () => {
    await using code = await openCodeRuntime({
      'a.ts': Array.from({ length: 6 }, (_, at) => `export const name${at} = ${at};\n`).join(''),
    });
    const ids = await Promise.all([0, 1, 2, 3, 4, 5].map((at) => idOf(code, `name${at}`)));
    const answers = await Promise.all(
      ids.map((target_node_id, at) =>
        edit(code, { operation: 'rename_symbol', target_node_id, new_name: `other${at}` }),
      ),
    );
    assert.deepEqual(
      answers.map(({ edited }) => edited),
      ids.map(() => true),
    );
    assert.equal(code.read('a.ts').match(/other\d/g)?.length, 6);
  });
});
