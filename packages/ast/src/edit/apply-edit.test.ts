import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { isToolError, ToolError } from '@tool-runtime/protocol';
import type { Workspace } from '@tool-runtime/sdk';
import { refusal } from '../../test/edit-case.ts';
import { makeExecutable, openScratchEditor, type ScratchOptions } from '../../test/scratch-editor.ts';
import type { BuildCheck } from './apply-edit.ts';
import type { Formatter } from './editor.ts';

const FILES = {
  'a.ts': 'export const load = 1;\n',
  'b.ts': "import { load } from './a.ts';\r\nload;\r\n",
  'c/d.ts': "\ufeffimport { load } from '../a.ts';\nload;",
};

async function open(t: TestContext, options: ScratchOptions = {}) {
  const scratch = await openScratchEditor(t, FILES, options);
  makeExecutable(scratch, 'b.ts');
  const plan = (format = false, signal?: AbortSignal) =>
    scratch
      .id('load', { type: 'const' })
      .then((target_node_id) =>
        scratch.editor.plan(
          { operation: 'rename_symbol', target_node_id, new_name: 'fetch' },
          { format, ...(signal === undefined ? {} : { signal }) },
        ),
      );
  return { ...scratch, plan };
}

const AFTER = Object.fromEntries(Object.entries(FILES).map(([path, text]) => [path, text.replaceAll('load', 'fetch')]));

/** Fails the given write, before or after it was done, and whatever else it is told to. */
function faulty(
  workspace: Workspace,
  fault: { write?: number; when?: 'before' | 'after'; restore?: boolean; wrong?: () => void },
): Workspace {
  let writes = 0;
  return {
    ...workspace,
    async writeFile(path, bytes, options) {
      const number = ++writes;
      const isRestore = fault.write !== undefined && number > fault.write;
      if (isRestore && fault.restore === true) throw new ToolError('E_FILE_IO', 'Disk is gone');
      if (number === fault.write && fault.when !== 'after') {
        fault.wrong?.();
        throw new ToolError('E_FILE_IO', 'No space left on device');
      }
      const change = await workspace.writeFile(path, bytes, options);
      if (number === fault.write) throw new ToolError('E_FILE_IO', 'Could not be synced');
      return change;
    },
  };
}

describe('applying a plan', () => {
  test('writes all files, keeps modes, and brings the index in line [S0-54]', async (t) => {
    const { editor, workspace, plan, read, snapshot, id } = await open(t);
    const before = snapshot();
    const made = await plan();
    editor.diff(made);
    assert.deepEqual(snapshot(), before, 'a plan and its diff change nothing');
    const answer = await editor.apply(made, workspace);
    for (const [path, text] of Object.entries(AFTER)) assert.equal(read(path), text);
    assert.deepEqual(answer.files_touched, ['a.ts', 'b.ts', 'c/d.ts']);
    assert.equal(snapshot()['b.ts']?.startsWith('755 '), true);
    assert.deepEqual(Object.values(answer.renamed_ids), [await id('fetch', { type: 'const' })]);
    assert.equal(answer.changes.length, 3);
  });

  for (const write of [1, 2, 3]) {
    for (const when of ['before', 'after'] as const) {
      test(`leaves everything as it was when write ${write} fails ${when} it is done [S0-54]`, async (t) => {
        const { editor, workspace, plan, snapshot, id } = await open(t);
        const before = snapshot();
        const made = await plan();
        await assert.rejects(editor.apply(made, faulty(workspace, { write, when })), refusal('write_failed'));
        assert.deepEqual(snapshot(), before);
        await id('load', { type: 'const' });
        assert.equal((await editor.apply(made, workspace)).edited, true, 'the plan still applies');
      });
    }
  }

  test('says loudly which files could not be put back [S0-54]', async (t) => {
    const { editor, workspace, plan } = await open(t);
    const made = await plan();
    await assert.rejects(editor.apply(made, faulty(workspace, { write: 3, restore: true })), (thrown) => {
      assert.ok(isToolError(thrown));
      assert.match(thrown.message, /COULD NOT BE UNDONE.*a\.ts, b\.ts/);
      assert.deepEqual(thrown.details['unrestored'], ['a.ts', 'b.ts']);
      return refusal('restore_failed')(thrown);
    });
  });

  test('refuses before the first write when a file changed meanwhile [S0-54]', async (t) => {
    const { editor, workspace, plan, snapshot, write } = await open(t);
    const made = await plan();
    write('b.ts', `${FILES['b.ts']}// more\n`);
    const before = snapshot();
    await assert.rejects(editor.apply(made, workspace), refusal('file_changed'));
    assert.deepEqual(snapshot(), before);
  });

  test('takes everything back when another writer comes between two writes, and leaves its work alone [S0-54]', async (t) => {
    const { editor, workspace, plan, snapshot, write, read } = await open(t);
    const before = snapshot();
    const made = await plan();
    let writes = 0;
    const racing: Workspace = {
      ...workspace,
      writeFile(path, bytes, options) {
        if (++writes === 2) write('b.ts', 'theirs\n');
        return workspace.writeFile(path, bytes, options);
      },
    };
    await assert.rejects(editor.apply(made, racing), refusal('file_changed'));
    assert.equal(read('b.ts'), 'theirs\n');
    assert.deepEqual({ ...snapshot(), 'b.ts': before['b.ts'] }, before);
  });

  test('does not overwrite what another writer made of a file it wrote [S0-54]', async (t) => {
    const { editor, workspace, plan, read, write } = await open(t);
    const made = await plan();
    const racing = faulty(workspace, { write: 2, wrong: () => write('a.ts', 'theirs\n') });
    await assert.rejects(editor.apply(made, racing), refusal('restore_failed'));
    assert.equal(read('a.ts'), 'theirs\n');
  });

  test('two plans for the same content: the first is applied, the second refused [S0-54]', async (t) => {
    const { editor, workspace, plan, read } = await open(t);
    const plans = [await plan(), await plan()];
    const done = await Promise.allSettled(plans.map((one) => editor.apply(one, workspace)));
    assert.equal(done.filter(({ status }) => status === 'fulfilled').length, 1);
    for (const [path, text] of Object.entries(AFTER)) assert.equal(read(path), text);
  });

  test('removes files and folders it made when a later write fails [S0-54]', async (t) => {
    const { editor, workspace, snapshot, id } = await open(t);
    const before = snapshot();
    const plan = await editor.plan({
      operation: 'move_symbol',
      target_node_id: await id('load', { type: 'const' }),
      to_file: 'aa/bb/new.ts',
      reexport: true,
    });
    assert.deepEqual(
      plan.files.map(({ path }) => path),
      ['a.ts', 'aa/bb/new.ts'],
    );
    const reversed = { ...plan, files: plan.files.toReversed() };
    await assert.rejects(editor.apply(reversed, faulty(workspace, { write: 2 })), refusal('write_failed'));
    assert.deepEqual(snapshot(), before);
    await editor.apply(plan, workspace);
  });
});

describe('cancelling', () => {
  /** Fires at its nth look. */
  function countdown(looks: number): AbortSignal {
    const control = new AbortController();
    let left = looks;
    return new Proxy(control.signal, {
      get(signal, key) {
        if (key === 'aborted' && --left < 0)
          control.abort(new ToolError('E_INTERNAL', 'Stop', { details: { kind: 'cancellation' } }));
        const value = Reflect.get(signal, key, signal);
        return typeof value === 'function' ? value.bind(signal) : value;
      },
    });
  }

  test('leaves the tree as it was or the whole edit, whenever it comes [S0-54]', async (t) => {
    const { editor, workspace, plan, snapshot, write } = await open(t);
    const before = snapshot();
    const made = await plan();
    let finished = false;
    for (let looks = 0; !finished && looks < 100; looks++) {
      try {
        await editor.apply(made, workspace, { signal: countdown(looks) });
        finished = true;
      } catch (thrown) {
        assert.ok(isToolError(thrown) && thrown.message === 'Stop', String(thrown));
        assert.deepEqual(snapshot(), before, `after ${looks} looks`);
      }
    }
    assert.ok(finished);
    for (const [path, text] of Object.entries(FILES)) write(path, text);
  });

  test('ends planning, whenever it comes [S0-54]', async (t) => {
    const { plan, snapshot } = await open(t);
    const before = snapshot();
    let finished = false;
    let stopped = 0;
    for (let looks = 0; !finished && looks < 500; looks++) {
      const outcome = await plan(false, countdown(looks)).catch((thrown: unknown) => thrown);
      finished = !(outcome instanceof Error);
      if (!finished) stopped++;
      if (!finished) assert.ok(isToolError(outcome) && outcome.message === 'Stop', String(outcome));
    }
    assert.ok(finished && stopped > 3);
    assert.deepEqual(snapshot(), before);
  });
});

/** Ends every file with exactly one line feed. */
const TIDY: Formatter = {
  formatterOf: async (path) => (path.endsWith('.ts') ? 'tidy' : undefined),
  format: async ({ bytes }) =>
    Buffer.from(
      Buffer.from(bytes)
        .toString()
        .replace(/\s*$/, '\n')
        .replace(/fetch\b/g, 'fetch '),
    ),
};

describe('formatting', () => {
  test('touches only files that were formatted before [S0-54]', async (t) => {
    const { plan } = await open(t, { formatter: TIDY });
    const made = await plan(true);
    const texts = Object.fromEntries(made.files.map(({ path, after }) => [path, Buffer.from(after ?? '').toString()]));
    assert.equal(texts['a.ts'], 'export const fetch  = 1;\n');
    assert.equal(texts['b.ts'], AFTER['b.ts'], 'its last line end would have changed');
    assert.deepEqual(made.warnings.toSorted(), [
      'not formatted, it was not before either: b.ts',
      'not formatted, it was not before either: c/d.ts',
    ]);
  });

  const failing: readonly (readonly [string, Formatter['format'], RegExp])[] = [
    [
      'fails',
      async () => Promise.reject(new ToolError('E_SHELL', 'No such program')),
      /failed: a\.ts: No such program/,
    ],
    [
      'breaks the syntax',
      async ({ bytes }) => (Buffer.from(bytes).includes('fetch') ? Buffer.from('export {{{') : bytes),
      /broke the syntax/,
    ],
    [
      'empties the file',
      async ({ bytes }) => (Buffer.from(bytes).includes('fetch') ? Buffer.alloc(0) : bytes),
      /broke the syntax/,
    ],
  ];
  for (const [what, format, warning] of failing) {
    test(`never loses the edit when the formatter ${what} [S0-54]`, async (t) => {
      const { editor, workspace, plan, read } = await open(t, { formatter: { ...TIDY, format } });
      const made = await plan(true);
      assert.match(made.warnings.join('\n'), warning);
      await editor.apply(made, workspace);
      for (const [path, text] of Object.entries(AFTER)) assert.equal(read(path), text);
    });
  }

  test('says when there is no formatter [S0-54]', async (t) => {
    const { plan } = await open(t);
    assert.deepEqual((await plan(true)).warnings[0], 'no formatter: a.ts');
    assert.deepEqual((await plan(false)).warnings, []);
  });
});

describe('the build check', () => {
  const reports = (...given: (boolean | Error | undefined)[]): BuildCheck => ({
    async check() {
      const next = given.shift();
      if (next instanceof Error) throw next;
      return next === undefined ? undefined : { ok: next, command: 'make', output: 'said' };
    },
  });
  const validateBuild = true;

  test('keeps an edit that builds [S0-54]', async (t) => {
    const { editor, workspace, plan } = await open(t, { build: reports(true, true) });
    assert.equal((await editor.apply(await plan(), workspace, { validateBuild })).build, 'passed');
  });

  test('takes back an edit that breaks the build [S0-54]', async (t) => {
    const { editor, workspace, plan, snapshot, id } = await open(t, { build: reports(true, false) });
    const before = snapshot();
    await assert.rejects(
      editor.apply(await plan(), workspace, { validateBuild }),
      refusal('build_failed', 'E_VALIDATION_FAIL'),
    );
    assert.deepEqual(snapshot(), before);
    await id('load', { type: 'const' });
  });

  test('takes the edit back when the build cannot be run after it [S0-54]', async (t) => {
    const { editor, workspace, plan, snapshot } = await open(t, {
      build: reports(true, new ToolError('E_SHELL', 'Gone')),
    });
    const before = snapshot();
    await assert.rejects(
      editor.apply(await plan(), workspace, { validateBuild }),
      refusal('build_not_run', 'E_VALIDATION_FAIL'),
    );
    assert.deepEqual(snapshot(), before);
  });

  test('does not blame the edit for a build that was broken before [S0-54]', async (t) => {
    const { editor, workspace, plan } = await open(t, { build: reports(false) });
    const answer = await editor.apply(await plan(), workspace, { validateBuild });
    assert.deepEqual([answer.build, answer.edited], ['failed_before', true]);
    assert.match(answer.warnings.join(), /broken before/);
  });

  test('says when there is nothing to build with, and builds only when asked [S0-54]', async (t) => {
    const { editor, workspace, plan } = await open(t, { build: reports(undefined) });
    assert.equal((await editor.apply(await plan(), workspace, { validateBuild })).build, 'none');
    const plain = await open(t, { build: reports(new TypeError('must not be asked')) });
    assert.equal((await plain.editor.apply(await plain.plan(), plain.workspace)).build, undefined);
  });
});
