import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { ErrorEntry } from '@tool-runtime/protocol';
import { sha256Hex } from '../../platform/digest.ts';
import { openScratchRuntime } from '../../testing/scratch-runtime.ts';
import { filePatch } from './file-patch.ts';

async function scene(
  t: TestContext,
  options: { secrets?: readonly string[]; registry?: { text: string; file: string } } = {},
) {
  const { session, workspace, dispose } = await openScratchRuntime(options);
  t.after(dispose);
  const call = (path: string | null, unified_diff: string, more: object = {}) =>
    session.call('file_patch', { ...(path === null ? {} : { path }), unified_diff, ...more });
  return {
    workspace,
    put: (bytes: string | Uint8Array, name = 'file') => writeFileSync(join(workspace, name), bytes),
    text: (name = 'file') => readFileSync(join(workspace, name), 'utf8'),
    async patch(diff: string, path: string | null = 'file', more: object = {}) {
      const response = await call(path, diff, more);
      assert.deepEqual(response.errors, []);
      return filePatch.data.parse(response.data);
    },
    async refusal(diff: string, path: string | null = 'file', more: object = {}): Promise<ErrorEntry> {
      const response = await call(path, diff, more);
      assert.equal(response.ok, false);
      const [error] = response.errors;
      return error ?? assert.fail('no error');
    },
  };
}

const BEFORE = 'a\nb\nc\n';
const AFTER = 'a\nB\nc\n';
const HUNK = '@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n';

test('file_patch applies a diff and says what it did [S0-32]', async (t) => {
  const { put, text, patch } = await scene(t);
  put(`x\n${BEFORE}`);
  assert.deepEqual(await patch(`--- a/file\n+++ b/file\n${HUNK}`), {
    patched: true,
    hunks_applied: 1,
    changed: true,
    created: false,
    deleted: false,
    bytes: 8,
    sha256: sha256Hex(`x\n${AFTER}`),
    before_sha256: sha256Hex(`x\n${BEFORE}`),
    hunks: [{ hunk: 1, line: 2, offset: 1, added: 1, removed: 1, match: 'exact' }],
  });
  assert.equal(text(), `x\n${AFTER}`);
});

test('file_patch applies all hunks or none, and tells hunk, expected and found line [S0-32]', async (t) => {
  const { put, text, refusal } = await scene(t);
  put(BEFORE);
  const error = await refusal(`@@ -1,2 +1,2 @@\n-a\n+A\n b\n@@ -3 +3 @@\n-see\n+sea\n`);
  assert.equal(error.code, 'E_FILE_IO');
  assert.equal(error.message, 'Hunk 2 does not match the file: line 3 should be "see", found "c"');
  const { hunk, expected, found, line } = error.details ?? {};
  assert.deepEqual({ hunk, expected, found, line }, { hunk: 2, expected: 'see', found: 'c', line: 3 });
  assert.equal(text(), BEFORE);
});

test('file_patch quotes lines in a refusal without the secrets in them [S0-32]', async (t) => {
  const { put, refusal } = await scene(t, { secrets: ['hunter2hunter2'] });
  put('password=hunter2hunter2\n');
  const error = await refusal('@@ -1 +1 @@\n-password: hunter2hunter2\n+x\n');
  assert.match(error.message, /^Hunk 1 does not match/);
  assert.equal(error.path, 'file');
  assert.doesNotMatch(JSON.stringify(error), /hunter2hunter2/);
});

test('file_patch says when nothing changes, and writes nothing then [S0-32]', async (t) => {
  const { put, patch, workspace } = await scene(t);
  put(BEFORE);
  const inode = statSync(join(workspace, 'file')).ino;
  for (const [diff, hunks] of [
    ['', 0],
    ['\n\n', 0],
    ['@@ -1,2 +1,2 @@\n a\n b\n', 1],
    ['@@ -1,2 +1,2 @@\n-a\n+a\n b\n', 1],
  ] as const) {
    const data = await patch(diff);
    assert.deepEqual([data.patched, data.changed, data.hunks_applied], [false, false, hunks], diff);
    assert.equal(data.sha256, data.before_sha256);
  }
  assert.equal(statSync(join(workspace, 'file')).ino, inode);
});

test('file_patch refuses a diff that names another file, and takes every spelling of its own [S0-32]', async (t) => {
  const { put, text, patch, refusal, workspace } = await scene(t);
  mkdirSync(join(workspace, 'src/deep'), { recursive: true });
  const path = 'src/deep/file.ts';
  const header = (name: string) => `--- ${name}\n+++ ${name.replace(/^a\//, 'b/')}\n`;
  for (const name of [path, `a/${path}`, `./${path}`, 'file.ts', 'a/deep/file.ts', `/checkout/${path}`]) {
    put(BEFORE, path);
    await patch(`${header(name)}${HUNK}`, path);
    assert.equal(text(path), AFTER, name);
  }
  put(BEFORE, path);
  for (const name of ['other.ts', 'a/src/other/file.ts', 'src/deep/myfile.ts', 'ile.ts', 'a/src/deep/file.ts/x']) {
    const error = await refusal(`${header(name)}${HUNK}`, path);
    assert.deepEqual([error.code, error.details?.['reason']], ['E_VALIDATION_FAIL', 'other_file'], name);
  }
  await patch(`--- src/deep/file.ts.orig\n+++ src/deep/file.ts\n${HUNK}`, `./${path}`);
});

test('file_patch refuses a diff of several files and names them [S0-32]', async (t) => {
  const { put, text, refusal } = await scene(t);
  put(BEFORE);
  const error = await refusal(`--- a/file\n+++ b/file\n${HUNK}--- a/other\n+++ b/other\n${HUNK}`);
  assert.deepEqual([error.code, error.message], ['E_VALIDATION_FAIL', 'Diff changes 2 files: file, other']);
  assert.equal(text(), BEFORE);
});

test('file_patch creates what the diff creates and never over a file [S0-32]', async (t) => {
  const { put, text, patch, refusal, workspace } = await scene(t);
  const creation = '--- /dev/null\n+++ b/new\n@@ -0,0 +1,2 @@\n+a\n+b\n';
  const data = await patch(creation, 'folder/new');
  assert.deepEqual([data.created, data.before_sha256, text('folder/new')], [true, null, 'a\nb\n']);
  put('mine', 'new');
  const error = await refusal(creation, 'new');
  assert.deepEqual([error.code, error.details?.['reason'], text('new')], ['E_FILE_IO', 'EEXIST', 'mine']);
  assert.ok((await patch('--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+a\n', 'x')).created);
  const executable = 'diff --git a/run b/run\nnew file mode 100755\n--- /dev/null\n+++ b/run\n@@ -0,0 +1 @@\n+a\n';
  await patch(executable, 'run');
  assert.equal(statSync(join(workspace, 'run')).mode & 0o777, 0o755);
  assert.equal((await refusal(HUNK, 'missing')).message, 'File not found: missing');
});

test('file_patch deletes what the diff shows to be all of the file [S0-32]', async (t) => {
  const { put, text, patch, refusal, workspace } = await scene(t);
  const deletion = '--- a/file\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-a\n-b\n-c\n';
  put(`${BEFORE}more\n`);
  assert.equal((await refusal(deletion)).details?.['reason'], 'deletion_incomplete');
  assert.equal(text(), `${BEFORE}more\n`);
  put(BEFORE);
  const data = await patch(deletion);
  assert.deepEqual([data.deleted, data.sha256, data.bytes, data.before_sha256], [true, null, 0, sha256Hex(BEFORE)]);
  assert.deepEqual(readdirSync(workspace), []);
});

test('file_patch changes the mode when the diff says so, and else keeps it [S0-32]', async (t) => {
  const { put, patch, workspace } = await scene(t);
  put(BEFORE);
  const mode = () => statSync(join(workspace, 'file')).mode & 0o777;
  await patch('diff --git a/file b/file\nold mode 100644\nnew mode 100755\n');
  assert.equal(mode(), 0o755);
  await patch(HUNK);
  assert.equal(mode(), 0o755);
});

test('file_patch holds the caller to the content it read [S0-32]', async (t) => {
  const { put, text, patch, refusal } = await scene(t);
  put(BEFORE);
  const error = await refusal(HUNK, 'file', { expected_sha256: sha256Hex('older') });
  assert.deepEqual(
    [error.code, error.details?.['reason'], error.details?.['expected_sha256'], error.details?.['actual_sha256']],
    ['E_FILE_IO', 'precondition_failed', sha256Hex('older'), sha256Hex(BEFORE)],
  );
  assert.equal(text(), BEFORE);
  await patch(HUNK, 'file', { expected_sha256: sha256Hex(BEFORE) });
  assert.equal(text(), AFTER);
});

test('file_patch keeps line ends, byte order marks and encodings [S0-32]', async (t) => {
  const { put, patch, workspace } = await scene(t);
  const diff = '@@ -1,2 +1,2 @@\n Zeile über eins\n-süß\n+bitter-süß\n';
  const before = 'Zeile über eins\r\nsüß\r\n';
  const after = 'Zeile über eins\r\nbitter-süß\r\n';
  for (const encoding of ['utf8', 'utf16le', 'latin1'] as const) {
    for (const mark of encoding === 'latin1' ? [''] : ['', '\ufeff']) {
      // A first line that the diff leaves alone carries the mark.
      put(Buffer.from(`${mark}top\r\n${before}`, encoding));
      await patch(diff);
      assert.deepEqual(readFileSync(join(workspace, 'file')), Buffer.from(`${mark}top\r\n${after}`, encoding));
    }
  }
});

test('file_patch refuses a diff that was cut off at any line or byte and leaves the file alone', async (t) => {
  const { put, text, patch, refusal } = await scene(t);
  const diff = `--- a/file\n+++ b/file\n${HUNK}`;
  for (let length = diff.indexOf('@@'); length < diff.length - 1; length++) {
    put(BEFORE);
    const error = await refusal(diff.slice(0, length));
    assert.match(error.code, /^E_VALIDATION_FAIL$|^E_FILE_IO$/);
    assert.equal(text(), BEFORE, JSON.stringify(diff.slice(0, length)));
  }
  const error = await refusal(diff.slice(0, diff.indexOf('+B')));
  assert.equal(error.message, 'Hunk 1 has 2 old and 1 new lines, but its header says 3 old and 3 new lines: line 3');
  await patch(diff);
  assert.equal(text(), AFTER);
});

test('file_patch refuses characters that the encoding of the file does not have [S0-32]', async (t) => {
  const { put, patch, refusal } = await scene(t);
  put(Buffer.from('schön\nplain\n', 'latin1'));
  const error = await refusal('@@ -2 +2 @@\n-plain\n+snowman ☃\n');
  assert.deepEqual([error.code, error.details?.['reason']], ['E_FILE_IO', 'encoding']);
  await patch('@@ -2 +2 @@\n-plain\n+rührend\n');
});

test('file_patch refuses a hundred megabytes of diff, renames and binary patches [S0-32]', async (t) => {
  const registry = { file: 'large.yaml', text: 'version: 1\nlimits: { max_request_bytes: 67108864 }\n' };
  const { put, text, refusal } = await scene(t, { registry });
  put(BEFORE);
  const table: readonly (readonly [string, RegExp])[] = [
    [`${HUNK}${'+x'.repeat(50_000_000)}`, /Arguments are larger than 67108864 bytes/],
    [`${HUNK}${'+x'.repeat(10_000_000)}`, /unified_diff is longer than 16777216/],
    [`${HUNK}+${'é'.repeat(9_000_000)}`, /Diff is longer than 16777216 bytes/],
    ['diff --git a/file b/file\nrename from file\nrename to other\n', /Renames/],
    ['diff --git a/file b/file\nGIT binary patch\n', /Binary patches/],
    ['just talk', /No hunk found/],
    ['half \ud83d', /surrogate pair/],
  ];
  for (const [diff, message] of table) {
    const error = await refusal(diff);
    assert.equal(error.code, 'E_VALIDATION_FAIL');
    assert.match(error.message, message);
  }
  assert.equal(text(), BEFORE);
});

test('file_patch refuses paths outside and git data by policy [S0-34]', async (t) => {
  const { put, refusal, patch } = await scene(t);
  put(BEFORE);
  for (const path of ['../file', '/etc/hostname', '.git/config']) {
    assert.equal((await refusal('@@ -0,0 +1 @@\n+x\n', path)).code, 'E_POLICY', path);
  }
  await patch(HUNK, './file');
});

const REFUSE_INEXACT = { text: 'version: 1\nedits: {inexact: refuse}\n', file: 'registry.yaml' };

test('file_patch places lines that differ in blanks, with a warning, unless the registry refuses inexact text', async (t) => {
  const lenient = await scene(t);
  lenient.put('a  \nb\nc\n');
  const { hunks } = await lenient.patch(HUNK);
  assert.equal(hunks[0]?.match, 'trailing');
  assert.equal(lenient.text(), 'a  \nB\nc\n');

  const strict = await scene(t, { registry: REFUSE_INEXACT });
  strict.put('a  \nb\nc\n');
  const { code, details } = await strict.refusal(HUNK);
  assert.deepEqual([code, details?.['reason'], details?.['match']], ['E_POLICY', 'inexact_refused', ['trailing']]);
  assert.equal(strict.text(), 'a  \nb\nc\n');
  strict.put(BEFORE);
  assert.equal((await strict.patch(HUNK)).hunks[0]?.match, 'exact');
});

const BEGIN = (...lines: readonly string[]): string => ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n');

test('file_patch takes *** Begin Patch and adds, updates, moves and deletes files', async (t) => {
  const { patch, put, text, workspace } = await scene(t);
  put('a\nb\n', 'one');
  put('c\nd\n', 'two');
  put('gone\n', 'three');
  const diff = BEGIN(
    '*** Update File: one',
    '@@',
    '-b',
    '+B',
    '*** Update File: two',
    '*** Move to: sub/new',
    ' c',
    '-d',
    '+D',
    '*** Delete File: three',
    '*** Add File: four',
    '+new',
  );
  const data = await patch(diff, null);
  assert.deepEqual([text('one'), text('sub/new'), text('four')], ['a\nB\n', 'c\nD\n', 'new\n']);
  assert.deepEqual(readdirSync(workspace).sort(), ['four', 'one', 'sub']);
  assert.deepEqual(
    data.files?.map(({ path, operation, moved_to, sha256 }) => [path, operation, moved_to, sha256?.length]),
    [
      ['one', 'update', undefined, 64],
      ['two', 'move', 'sub/new', 64],
      ['three', 'delete', undefined, undefined],
      ['four', 'add', undefined, 64],
    ],
  );
  assert.equal(
    (await patch(BEGIN('*** Update File: one', '-a', '+A'), 'one')).sha256,
    sha256Hex(Buffer.from('A\nB\n')),
  );
});

test('file_patch changes nothing when one file of a *** Begin Patch does not fit', async (t) => {
  const { refusal, put, text, workspace } = await scene(t);
  put('a\n', 'one');
  put('b\n', 'two');
  const all = (diff: string) => refusal(diff, null);
  const first = ['*** Add File: new', '+x', '*** Update File: one', '-a', '+A'];
  assert.equal((await all(BEGIN(...first, '*** Update File: two', '-x', '+y'))).details?.['reason'], 'hunk_mismatch');
  assert.equal((await all(BEGIN(...first, '*** Delete File: none'))).details?.['reason'], 'ENOENT');
  assert.equal((await all(BEGIN(...first, '*** Add File: two', '+x'))).details?.['reason'], 'EEXIST');
  assert.equal((await all(BEGIN(...first, '*** Add File: ../out', '+x'))).code, 'E_POLICY');
  assert.equal((await all(BEGIN(...first, '*** Add File: .git/x', '+x'))).code, 'E_POLICY');
  assert.equal((await all(HUNK)).details?.['reason'], 'path_missing');
  assert.equal((await refusal(BEGIN(...first), 'one')).details?.['reason'], 'other_file');
  assert.deepEqual([text('one'), text('two'), readdirSync(workspace).sort()], ['a\n', 'b\n', ['one', 'two']]);
});

test('file_patch judges the files that a *** Begin Patch names by the rules for paths and for deleting', async (t) => {
  const text = [
    'version: 1',
    'arg_constraints: [{tool: file_patch, arg_patterns: ["src/**"], arg_key: path}]',
    'approvals: {auto_approve: [file_patch], auto_deny: [fs_delete, fs_move]}',
    '',
  ].join('\n');
  const { refusal, patch, workspace } = await scene(t, { registry: { text, file: 'registry.yaml' } });
  mkdirSync(join(workspace, 'src'));
  writeFileSync(join(workspace, 'src/a'), 'a\n');
  writeFileSync(join(workspace, 'b'), 'a\n');
  const change = ['-a', '+A'];
  const all = (...lines: readonly string[]) => refusal(BEGIN(...lines), null);
  assert.equal((await all('*** Update File: src/a', ...change, '*** Update File: b', ...change)).code, 'E_POLICY');
  assert.equal((await all('*** Delete File: src/a')).code, 'E_POLICY');
  assert.equal((await all('*** Update File: src/a', '*** Move to: src/c', ...change)).code, 'E_POLICY');
  assert.equal(readFileSync(join(workspace, 'src/a'), 'utf8'), 'a\n');
  assert.equal((await patch(BEGIN('*** Update File: src/a', ...change), null)).changed, true);
});
