import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { sha256Hex } from '../../platform/digest.ts';
import { openScratchRuntime } from '../../testing/scratch-runtime.ts';
import { fileEdit } from './file-edit.ts';

async function scene(t: TestContext, content?: string | Uint8Array, registry?: string) {
  const written = registry === undefined ? {} : { registry: { text: registry, file: 'registry.yaml' } };
  const { session, workspace, dispose } = await openScratchRuntime(written);
  t.after(dispose);
  const file = join(workspace, 'file.ts');
  if (content !== undefined) writeFileSync(file, content);
  const send = (args: object) => session.call('file_edit', { path: 'file.ts', ...args } as never);
  return {
    file,
    content: () => readFileSync(file, 'utf8'),
    async edit(args: object) {
      const answer = await send(args);
      assert.ok(answer.ok, JSON.stringify(answer.errors));
      return { ...answer, data: answer.data as Record<string, unknown> };
    },
    async refusal(args: object) {
      const before = existsSync(file) ? readFileSync(file) : undefined;
      const answer = await send(args);
      assert.equal(answer.ok, false, 'the edit was to be refused');
      assert.deepEqual(existsSync(file) ? readFileSync(file) : undefined, before, 'a refused edit changes nothing');
      const [error] = answer.errors;
      return { code: error?.code, message: error?.message ?? '', details: (error?.details ?? {}) as never as Details };
    },
  };
}

interface Details {
  readonly reason: string;
  readonly next: string;
  readonly places: readonly { readonly line: number; readonly within?: string }[];
  readonly nearest: readonly {
    readonly line: number;
    readonly text: string;
    readonly first_difference?: { readonly line: number; readonly asked: string; readonly found: string | null };
  }[];
}

const CODE = 'function a() {\n  return 1;\n}\n\nfunction b() {\n  return 1;\n}\n';

test('file_edit replaces one text and answers with place, diff and digests', async (t) => {
  const { edit, content } = await scene(t, CODE);
  const { data, warnings } = await edit({ old: 'function a() {\n  return 1;', new: 'function a() {\n  return 2;' });
  const after = CODE.replace('1', '2');
  assert.equal(content(), after);
  assert.deepEqual(data, {
    changed: true,
    created: false,
    dry_run: false,
    edits: [{ line: 1, end_line: 2, match: 'exact', places: 1 }],
    diff: '@@ -1,5 +1,5 @@\n function a() {\n-  return 1;\n+  return 2;\n }\n \n function b() {\n',
    bytes: after.length,
    sha256: sha256Hex(after),
    before_sha256: sha256Hex(CODE),
  });
  assert.deepEqual(warnings, []);
});

test('names that other agents use work too, alone and as a list', async (t) => {
  const { edit, content } = await scene(t, 'a\nb\n');
  await edit({ old_string: 'a', new_string: 'A', replace_all: false });
  await edit({ edits: [{ old: 'b', new: 'B' }] });
  assert.equal(content(), 'A\nB\n');
});

test('each edit sees the one before, and one that fails undoes them all', async (t) => {
  const { edit, refusal, content } = await scene(t, 'one\n');
  await edit({
    edits: [
      { old: 'one', new: 'two' },
      { old: 'two', new: 'three' },
    ],
  });
  assert.equal(content(), 'three\n');
  const { details, message } = await refusal({
    edits: [
      { old: 'three', new: 'four' },
      { old: 'three', new: 'five' },
    ],
  });
  assert.equal(details.reason, 'not_found');
  assert.match(message, /^Edit 2 fits nowhere/);
});

test('several places are refused with what holds each, and chosen by all or by the nearest line', async (t) => {
  const { edit, refusal, content } = await scene(t, CODE);
  const { details } = await refusal({ old: 'return 1;', new: 'return 2;' });
  assert.equal(details.reason, 'ambiguous');
  assert.deepEqual(details.places, [
    { line: 2, within: 'function a() {' },
    { line: 6, within: 'function b() {' },
  ]);
  assert.equal((await refusal({ old: 'return 1;', new: 'return 2;', near_line: 4 })).details.reason, 'ambiguous');
  await edit({ old: 'return 1;', new: 'return 2;', near_line: 5 });
  assert.equal(content(), CODE.replace(/1;\n\}\n$/, '2;\n}\n'));
  const { data } = await edit({ old: 'return', new: 'throw', all: true });
  assert.deepEqual((data['edits'] as { places: number }[])[0]?.places, 2);
});

test('a text that fits only nearly is placed with a warning, unless only an exact one is wanted', async (t) => {
  const { edit, refusal, content } = await scene(t, '\tif (a) {\r\n\t\tb();\r\n\t}\r\n');
  const wanted = { old: 'if (a) {\n  b();\n}', new: 'if (a) {\n  b();\n  c();\n}' };
  assert.equal((await refusal({ ...wanted, exact: true })).details.reason, 'not_found');
  const { warnings, data } = await edit(wanted);
  assert.equal(content(), '\tif (a) {\r\n\t\tb();\r\n\t\tc();\r\n\t}\r\n');
  assert.equal((data['edits'] as { match: string }[])[0]?.match, 'indent');
  assert.equal(warnings[0]?.details?.['reason'], 'inexact_match');
});

test('a text that is nowhere is answered with the nearest lines and the first difference', async (t) => {
  const { refusal } = await scene(t, CODE);
  const { details, code } = await refusal({ old: 'function b() {\n  return 3;\n}', new: 'x' });
  assert.equal(code, 'E_FILE_IO');
  assert.deepEqual(details.nearest[0], {
    line: 5,
    text: 'function b() {\n  return 1;\n}',
    first_difference: { line: 6, asked: '  return 3;', found: '  return 1;' },
  });
  assert.equal((await refusal({ old: 'nothing like this', new: 'x' })).details.nearest, undefined);
});

test('the nearest lines can be copied as they are, tabs included', async (t) => {
  const { refusal, edit } = await scene(t, 'if (a) {\n\tb();\n\tc();\n}\n');
  const { details } = await refusal({ old: 'if (a) {\n\tb();\n\td();\n}', new: 'x' });
  assert.deepEqual(details.nearest[0], {
    line: 1,
    text: 'if (a) {\n\tb();\n\tc();\n}',
    first_difference: { line: 3, asked: '\td();', found: '\tc();' },
  });
  const { data } = await edit({ old: String(details.nearest[0]?.text), new: 'x' });
  assert.equal((data['edits'] as { match: string }[])[0]?.match, 'exact');
});

test('an edit that was made before is told from one that fits nowhere', async (t) => {
  const { refusal } = await scene(t, CODE.replace('1', '2'));
  const { details } = await refusal({ old: 'function a() {\n  return 1;', new: 'function a() {\n  return 2;' });
  assert.equal(details.reason, 'already_applied');
});

test('placeholders in place of code are refused, and lines that look like them and were there are not', async (t) => {
  const { edit, refusal, content } = await scene(t, 'a\n// ... existing code ...\nb\n...\n');
  for (const line of [
    '// ... existing code ...',
    '# ... rest of the file',
    '/* rest of the code unchanged */',
    '<!-- remaining content stays the same -->',
    '... (unchanged)',
  ]) {
    const { details, code } = await refusal({ old: 'b', new: `c\n${line}` });
    assert.deepEqual([code, details.reason], ['E_VALIDATION_FAIL', 'placeholder'], line);
  }
  await edit({ old: '// ... existing code ...\nb', new: '// ... existing code ...\nc' });
  await edit({ old: 'a\n', new: '# existing users keep their code\n...\n' });
  assert.equal(content(), '# existing users keep their code\n...\n// ... existing code ...\nc\n...\n');
});

test('a file that would lose most of its lines is refused until that is asked for', async (t) => {
  const long = Array.from({ length: 120 }, (_, at) => `line ${at}\n`).join('');
  const { edit, refusal, content } = await scene(t, long);
  assert.equal((await refusal({ old: long, new: 'line 0\n' })).details.reason, 'shrinks');
  await edit({ old: long, new: 'line 0\n', allow_shrink: true });
  assert.equal(content(), 'line 0\n');
});

test('a dry run answers with the diff and writes nothing', async (t) => {
  const { edit, content, file } = await scene(t, 'a\n');
  const before = statSync(file).mtimeMs;
  const { data } = await edit({ old: 'a', new: 'b', dry_run: true });
  assert.deepEqual([data['dry_run'], data['sha256'], data['diff']], [true, sha256Hex('b\n'), '@@ -1 +1 @@\n-a\n+b\n']);
  assert.deepEqual([content(), statSync(file).mtimeMs], ['a\n', before]);
});

test('an empty old creates a file that does not exist, and is refused for one that does', async (t) => {
  const { edit, refusal, content } = await scene(t);
  assert.equal((await refusal({ old: 'a', new: 'b' })).details.reason, 'ENOENT');
  const { data } = await edit({ old: '', new: 'fresh\n' });
  assert.deepEqual([data['created'], data['before_sha256'], content()], [true, null, 'fresh\n']);
  assert.equal((await refusal({ old: '', new: 'again\n' })).details.reason, 'empty_old');
});

test('what cannot be meant is refused: another version, no change, no text, half a request', async (t) => {
  const { refusal, edit } = await scene(t, 'a\n');
  const wanted = { old: 'a', new: 'b' };
  const stale = await refusal({ ...wanted, expected_sha256: sha256Hex('older\n') });
  assert.equal(stale.details.reason, 'precondition_failed');
  assert.equal((await refusal({ old: 'a', new: 'a' })).details.reason, 'no_change');
  for (const half of [{ old: 'a' }, { new: 'b' }, {}, { ...wanted, edits: [wanted] }]) {
    assert.equal((await refusal(half)).code, 'E_VALIDATION_FAIL');
  }
  await edit({ ...wanted, expected_sha256: sha256Hex('a\n') });
});

test('text keeps its encoding, and what has no text is refused', async (t) => {
  const { edit, refusal, file } = await scene(t, Buffer.from('Grüße\r\naus\r\n', 'latin1'));
  await edit({ old: 'aus', new: 'nach Köln' });
  assert.deepEqual(readFileSync(file), Buffer.from('Grüße\r\nnach Köln\r\n', 'latin1'));
  assert.equal((await refusal({ old: 'nach', new: '漢字' })).details.reason, 'encoding');
  writeFileSync(file, Buffer.from([0, 1, 2, 255]));
  assert.equal((await refusal({ old: 'a', new: 'b' })).details.reason, 'binary');
});

test('file_edit takes the names other agents use for old, new and all, at the top and in edits', async (t) => {
  const { edit, content, refusal } = await scene(t, 'a b b\n');
  await edit({ old_string: 'a', new_string: 'x' });
  await edit({
    edits: [
      { old_string: 'b', new_string: 'c', replace_all: true },
      { old_str: 'x', new_str: 'y' },
    ],
  });
  assert.equal(content(), 'y c c\n');
  const twice = await refusal({ edits: [{ old: 'y', old_string: 'z', new: 'n' }] });
  assert.match(twice.message, /given under two names/);
});

test('file_edit refuses inexact text where the registry says so, and still takes exact text', async (t) => {
  const { edit, refusal, content } = await scene(t, 'a  \nb\n', 'version: 1\nedits: {inexact: refuse}\n');
  const { code, details, message } = await refusal({ old: 'a\nb\n', new: 'x\n' });
  assert.deepEqual([code, details.reason], ['E_POLICY', 'inexact_refused']);
  assert.match(message, /fitted only by trailing, and the registry accepts exact text only/);
  await edit({ old: 'a  \nb\n', new: 'x\n' });
  assert.equal(content(), 'x\n');
});

async function severalFiles(t: TestContext, registry?: string) {
  const written = registry === undefined ? {} : { registry: { text: registry, file: 'registry.yaml' } };
  const scratch = await openScratchRuntime(written);
  t.after(scratch.dispose);
  const at = (path: string) => join(scratch.workspace, path);
  mkdirSync(at('src'));
  for (const [path, text] of Object.entries(BEFORE)) writeFileSync(at(path), text);
  const contents = () => Object.fromEntries(Object.keys(BEFORE).map((path) => [path, readFileSync(at(path), 'utf8')]));
  const send = (args: object) => scratch.session.call('file_edit', args as never);
  return {
    ...scratch,
    at,
    contents,
    send,
    async refusal(args: object) {
      const { ok, errors } = await send(args);
      assert.equal(ok, false, 'the edit was to be refused');
      assert.deepEqual(contents(), BEFORE, 'a refused edit changes nothing');
      return errors[0] as { code: string; message: string; path?: string; details: Record<string, unknown> };
    },
  };
}

const BEFORE = { 'src/a.ts': 'export const a = 1;\n', 'src/b.ts': 'import { a } from "./a";\n', 'c.md': 'a is 1\n' };
const TWO = [
  { path: 'src/a.ts', old: 'a = 1', new: 'one = 1' },
  { path: 'src/b.ts', old: '{ a }', new: '{ one }' },
];

test('file_edit changes several files in one commit and one change set', async (t) => {
  const { send, contents, session } = await severalFiles(t);
  const { ok, data, errors } = await send({
    edits: [
      ...TWO,
      { path: './src/../src/a.ts', old: 'one = 1', new: 'one = 2' },
      { path: 'new/d.ts', old: '', new: 'd\n' },
    ],
  });
  assert.ok(ok, JSON.stringify(errors));
  const now = { ...BEFORE, 'src/a.ts': 'export const one = 2;\n', 'src/b.ts': 'import { one } from "./a";\n' };
  assert.deepEqual(contents(), now);
  const { files = [], diff, ...sums } = fileEdit.data.parse(data);
  assert.deepEqual(
    files.map(({ path, sha256, edits }) => [path, sha256, edits.length]),
    [
      ['src/a.ts', sha256Hex(now['src/a.ts']), 2],
      ['src/b.ts', sha256Hex(now['src/b.ts']), 1],
      ['new/d.ts', sha256Hex('d\n'), 1],
    ],
  );
  assert.equal(
    diff,
    [
      '--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1 +1 @@\n-export const a = 1;\n+export const one = 2;\n',
      '--- a/src/b.ts\n+++ b/src/b.ts\n@@ -1 +1 @@\n-import { a } from "./a";\n+import { one } from "./a";\n',
      '--- /dev/null\n+++ b/new/d.ts\n@@ -0,0 +1 @@\n+d\n',
    ].join(''),
  );
  assert.deepEqual(sums, {
    changed: true,
    created: true,
    dry_run: false,
    edits: [],
    bytes: 22 + 27 + 2,
    sha256: null,
    before_sha256: null,
  });
  const { changes } = (await session.call('change_list', {})).data as { changes: { change_id: string }[] };
  assert.equal(changes.length, 1);
  const undone = await session.call('change_undo', { change_id: changes[0]?.change_id ?? '' });
  assert.ok(undone.ok, JSON.stringify(undone.errors));
  assert.deepEqual(contents(), BEFORE);
});

test('file_edit of several files shows all diffs in a dry run and writes nothing', async (t) => {
  const { send, contents } = await severalFiles(t);
  const { data } = await send({ path: 'c.md', edits: [...TWO, { old: '1', new: '2' }], dry_run: true });
  const { diff, files } = data as { diff: string; files: { path: string; sha256: string }[] };
  assert.deepEqual(diff.match(/^\+.*/gm), [
    '+++ b/src/a.ts',
    '+export const one = 1;',
    '+++ b/src/b.ts',
    '+import { one } from "./a";',
    '+++ b/c.md',
    '+a is 2',
  ]);
  assert.equal(files[2]?.sha256, sha256Hex('a is 2\n'));
  assert.deepEqual(contents(), BEFORE);
});

test('file_edit of several files changes none when one does not fit, and the refusal names it', async (t) => {
  const { refusal, at, send, contents } = await severalFiles(t);
  const cases: [object, string, string][] = [
    [{ path: 'c.md', old: 'nowhere to be seen', new: 'x' }, 'not_found', 'c.md'],
    [{ path: 'c.md', old: 'a is 2', new: 'a is 1' }, 'already_applied', 'c.md'],
    [{ path: 'gone.md', old: 'x', new: 'y' }, 'ENOENT', 'gone.md'],
    [{ path: 'c.md', old: 'a', new: 'b', expected_sha256: sha256Hex('older') }, 'precondition_failed', 'c.md'],
    [{ path: 'c.md', old: 'a', new: '// ... existing code ...' }, 'placeholder', 'c.md'],
    [{ path: 'c.md', old: '', new: 'x' }, 'empty_old', 'c.md'],
    [{ path: 'src', old: 'a', new: 'b' }, 'EISDIR', 'src'],
  ];
  for (const [edit, reason, path] of cases) {
    const error = await refusal({ edits: [...TWO, edit] });
    assert.deepEqual([error.details['reason'], error.path], [reason, path]);
    assert.ok(error.message.includes(path), error.message);
  }
  symlinkSync('a.ts', at('src/alias.ts'));
  const twice = await refusal({ edits: [...TWO, { path: 'src/alias.ts', old: 'const', new: 'let' }] });
  assert.deepEqual([twice.details['reason'], twice.path], ['same_file', 'src/alias.ts']);
  assert.ok((await send({ edits: [{ path: 'src/alias.ts', old: 'const', new: 'let' }, TWO[1]] })).ok);
  assert.equal(contents()['src/a.ts'], 'export let a = 1;\n');
});

test('file_edit needs a path for each edit, and a version that is about an edited file', async (t) => {
  const { refusal, send } = await severalFiles(t);
  const version = sha256Hex(BEFORE['c.md']);
  for (const args of [
    { edits: [TWO[0], { old: 'a', new: 'b' }] },
    { old: 'a', new: 'b' },
    { path: 'c.md', edits: TWO, expected_sha256: version },
  ]) {
    assert.equal((await refusal(args)).code, 'E_VALIDATION_FAIL', JSON.stringify(args));
  }
  const stale = { path: 'c.md', edits: [...TWO, { path: './c.md', old: '1', new: '2' }] };
  assert.equal((await refusal({ ...stale, expected_sha256: sha256Hex('older') })).path, './c.md');
  assert.ok((await send({ ...stale, expected_sha256: version })).ok);
});

test('file_edit keeps the rules about paths for every file it names, before the first is written', async (t) => {
  const { refusal, send, at } = await severalFiles(
    t,
    "version: 1\narg_constraints: [{ tool: file_edit, arg_patterns: ['src/**'] }]\n",
  );
  const outside = await refusal({ edits: [...TWO, { path: 'c.md', old: '1', new: '2' }] });
  assert.equal(outside.code, 'E_POLICY');
  const shown = { edits: [{ path: 'c.md', old: '1', new: '2' }], dry_run: true };
  assert.equal((await refusal(shown)).code, 'E_POLICY', 'a dry run would tell what the file holds');
  symlinkSync('../c.md', at('src/link.md'));
  assert.equal((await refusal({ edits: [TWO[0], { path: 'src/link.md', old: '1', new: '2' }] })).code, 'E_POLICY');
  assert.equal((await refusal({ edits: [TWO[0], { path: '../c.md', old: '1', new: '2' }] })).code, 'E_POLICY');
  assert.equal((await refusal({ edits: [TWO[0], { path: '.git/config', old: '', new: '2' }] })).code, 'E_POLICY');
  const { ok, errors } = await send({ edits: [TWO[0], { ...TWO[1], path: at('src/b.ts') }] });
  assert.ok(ok, JSON.stringify(errors));
});

test('a file that file_edit names is locked until its call is over', async (t) => {
  const { session, send, contents } = await severalFiles(t);
  const both = [
    [...TWO, { path: 'c.md', old: '1', new: '2' }],
    [
      { path: 'c.md', old: 'a is', new: 'one is' },
      { path: 'src/b.ts', old: './a', new: './one' },
    ],
  ];
  const answers = await Promise.all([
    ...both.map((edits) => send({ edits })),
    session.call('file_edit', { path: 'src/a.ts', old: 'export', new: 'export' + ' ' } as never),
  ]);
  for (const { ok, errors } of answers) assert.ok(ok, JSON.stringify(errors));
  assert.deepEqual(contents(), {
    'src/a.ts': 'export  const one = 1;\n',
    'src/b.ts': 'import { one } from "./one";\n',
    'c.md': 'one is 2\n',
  });
});

/** Places of a text, also those that overlap. */
function countOf(text: string, part: string): number {
  let count = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) count++;
  return count;
}

test('random edits of several files do what search and replace does, or nothing at all', async (t) => {
  const { session, at } = await severalFiles(t);
  const names = ['x.txt', 'y.txt', 'z.txt'] as const;
  const text = fc
    .array(fc.constantFrom('a', 'b', 'c', 'ab', 'bc', '\n'), { minLength: 2, maxLength: 6 })
    .map((parts) => parts.join(''));
  const edit = fc.record({
    path: fc.constantFrom(...names),
    old: fc.constantFrom('a', 'b', 'c', 'ab', 'bc', 'ca'),
    new: fc.stringMatching(/^[abcd]{0,3}$/),
  });
  const seen = { done: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(text, text, text),
      fc.array(edit, { minLength: 1, maxLength: 3 }),
      async (texts, edits) => {
        const model = new Map(names.map((name, index): [string, string] => [name, texts[index] ?? '']));
        for (const [name, content] of model) writeFileSync(at(name), content);
        const before = new Map(model);
        let fits = true;
        for (const one of edits) {
          const now = model.get(one.path) ?? '';
          fits &&= one.old !== one.new && countOf(now, one.old) === 1;
          model.set(
            one.path,
            now.replace(one.old, () => one.new),
          );
        }
        const { ok } = await session.call('file_edit', { edits, exact: true });
        assert.equal(ok, fits);
        seen[ok ? 'done' : 'refused'] += 1;
        const wanted = fits ? model : before;
        for (const name of names) assert.equal(readFileSync(at(name), 'utf8'), wanted.get(name), name);
      },
    ),
    { numRuns: 120 },
  );
  assert.ok(seen.done > 5 && seen.refused > 5, JSON.stringify(seen));
});
