import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { sha256Hex } from '../../platform/digest.ts';
import { openScratchRuntime } from '../../testing/scratch-runtime.ts';

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
