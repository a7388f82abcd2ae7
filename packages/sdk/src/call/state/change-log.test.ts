import assert from 'node:assert/strict';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { ToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import { defineRule } from '../../contracts/rule.ts';
import { defineTool, type ToolContext } from '../../contracts/tool.ts';
import type { Workspace } from '../../contracts/workspace.ts';
import { openRoot } from '../../platform/descriptors/root.ts';
import { createWorkspace } from '../../platform/files/workspace.ts';
import type { Session } from '../../session/session.ts';
import { createCounter } from '../../testing/probe-tools.ts';
import { openScratchRuntime } from '../../testing/scratch-runtime.ts';
import { readOnlyView } from '../tool-context/execution-context.ts';
import { ChangeLog, Grant } from './change-log.ts';

const COPY = { overwrite: false, preserveMode: true } as const;
const OVER = { overwrite: true, preserveMode: true } as const;
const text = (value: string): Buffer => Buffer.from(value);

function scene(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'change-log-'));
  const root = openRoot(directory);
  t.after(() => {
    root.close();
    rmSync(directory, { recursive: true, force: true });
  });
  mkdirSync(join(directory, 'folder/inner'), { recursive: true });
  writeFileSync(join(directory, 'folder/inner/deep'), 'deep');
  writeFileSync(join(directory, 'file'), 'file');
  writeFileSync(join(directory, 'other'), 'other');
  chmodSync(join(directory, 'other'), 0o600);
  symlinkSync('file', join(directory, 'link'));
  return { directory, workspace: createWorkspace(root) };
}

function listed(path: string): unknown {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) return `-> ${readlinkSync(path)}`;
  if (stat.isFile()) return `${readFileSync(path, 'utf8')} ${(stat.mode & 0o777).toString(8)}`;
  return Object.fromEntries(
    readdirSync(path)
      .sort()
      .map((name) => [name, listed(join(path, name))]),
  );
}

type Act = (workspace: Workspace) => unknown;

/** What can be taken back, each with how many names it reports. */
const REVERSIBLE: Record<string, readonly [Act, number]> = {
  'a new file in new folders': [(workspace) => workspace.writeFile('a/b/c', text('x'), { createDirs: true }), 1],
  'a changed file': [(workspace) => workspace.writeFile('other', text('x')), 1],
  'a file changed through a link': [(workspace) => workspace.writeFile('link', text('x')), 1],
  'a removed file': [(workspace) => workspace.removeFile('other'), 1],
  'a file removed by the tree operation': [(workspace) => workspace.remove('other', { recursive: true }), 1],
  'a new folder with parents': [(workspace) => workspace.makeDirectory('a/b/c'), 1],
  'a folder that was there': [(workspace) => workspace.makeDirectory('folder'), 0],
  'nothing removed': [(workspace) => workspace.remove('missing', { recursive: true }), 0],
  'a moved folder': [(workspace) => workspace.move('folder', 'a/moved', { overwrite: false, createDirs: true }), 2],
  'a moved link': [(workspace) => workspace.move('link', 'moved', COPY), 2],
  'a file moved over another': [(workspace) => workspace.move('file', 'other', OVER), 2],
  'a move onto itself': [(workspace) => workspace.move('file', './file', OVER), 0],
  'a copied folder': [(workspace) => workspace.copy('folder', 'copy', COPY), 1],
  'a file copied over another': [(workspace) => workspace.copy('file', 'other', OVER), 1],
  'a link copied over a file': [(workspace) => workspace.copy('link', 'other', OVER), 1],
};

/** What is not kept, hence cannot be. */
const IRREVERSIBLE: Record<string, Act> = {
  'a removed folder': (workspace) => workspace.remove('folder', { recursive: true }),
  'a removed link': (workspace) => workspace.removeFile('link'),
  'a replaced folder': (workspace) => workspace.copy('folder/inner', 'copy', OVER),
  'a folder moved over another': (workspace) => workspace.move('folder/inner', 'copy', OVER),
  'a file moved over a link': (workspace) => workspace.move('other', 'link', OVER),
};

for (const [what, [act, names]] of Object.entries(REVERSIBLE)) {
  test(`4.20 rolling back ${what} leaves everything as it was`, async (t) => {
    const { directory, workspace } = scene(t);
    const before = listed(directory);
    const log = new ChangeLog({ keepOriginals: true });
    await act(log.tracked(workspace));
    assert.equal(log.changes.length, names);
    if (names > 0) assert.notDeepEqual(listed(directory), before);
    await log.rollBack();
    assert.deepEqual(listed(directory), before);
  });
}

for (const [what, act] of Object.entries(IRREVERSIBLE)) {
  test(`4.20 rolling back ${what} is refused, and what came before it stays too`, async (t) => {
    const { directory, workspace } = scene(t);
    mkdirSync(join(directory, 'copy'));
    const log = new ChangeLog({ keepOriginals: true });
    await log.tracked(workspace).writeFile('other', text('x'));
    await act(log.tracked(workspace));
    const after = listed(directory);
    await assert.rejects(log.rollBack(), { code: 'E_FILE_IO', message: /^Change cannot be taken back: / });
    assert.deepEqual(listed(directory), after);
  });
}

test('4.20 a whole row of changes is taken back newest first', async (t) => {
  const { directory, workspace } = scene(t);
  const before = listed(directory);
  const log = new ChangeLog({ keepOriginals: true });
  const tracked = log.tracked(workspace);
  await tracked.move('folder', 'a', COPY);
  await tracked.writeFile('a/inner/deep', text('x'));
  await tracked.copy('a', 'b', COPY);
  await tracked.move('b/inner/deep', 'file', OVER);
  await tracked.writeFile('folder', text('a file now'));
  await log.rollBack();
  assert.deepEqual(listed(directory), before);
});

test('4.20 without originals changes are recorded all the same, and there is nothing to take back', async (t) => {
  const { directory, workspace } = scene(t);
  const log = new ChangeLog({ keepOriginals: false });
  await log.tracked(workspace).remove('folder', { recursive: true });
  assert.deepEqual(
    log.changes.map(({ path, after }) => [path, after]),
    [['folder', null]],
  );
  await log.rollBack();
  assert.ok(!readdirSync(directory).includes('folder'));
});

test('a call that may only read is refused every change and given every look [S0-34]', async (t) => {
  const { directory, workspace } = scene(t);
  const view = readOnlyView(workspace);
  const before = listed(directory);
  for (const act of [...Object.values(REVERSIBLE).map(([change]) => change), ...Object.values(IRREVERSIBLE)]) {
    await assert.rejects(async () => act(view), { code: 'E_POLICY' });
  }
  assert.deepEqual(listed(directory), before);
  assert.equal((await view.readDirectory('folder')).length, 1);
  assert.equal((await view.stat('file'))?.size, 4);
});

const wreck = defineTool({
  name: 'wreck',
  category: 'probe',
  title: 'Wreck',
  summary: 'Moves or removes a folder, then writes a source file that no parser accepts',
  args: z.strictObject({ remove: z.boolean() }),
  data: z.strictObject({}),
  annotations: { kind: 'delete', side_effect_level: 'workspace_write' },
  effect: 'write',
  risk: 'high',
  timeoutMs: 60_000,
  async run({ remove }, { workspace }) {
    if (remove) await workspace.remove('folder', { recursive: true });
    else await workspace.move('folder', 'moved', COPY);
    await workspace.writeFile('source.ts', text('x'));
    return {};
  },
});

test('4.20 a blocked call is rolled back whole, and what cannot be is on record with everything it changed', async (t) => {
  const validators = 'version: 1\nvalidators:\n  - rule: code.ast.parsed\n    enforcement: blocking\n';
  const scratch = await openScratchRuntime({ registry: { file: 'r.yaml', text: validators }, tools: [wreck] });
  t.after(scratch.dispose);
  mkdirSync(join(scratch.workspace, 'folder/inner'), { recursive: true });
  const outcome = async (remove: boolean) => {
    const { errors } = await scratch.session.call('wreck', { remove });
    const result = [...scratch.runtime.records({ kind: 'result' })].at(-1);
    return {
      code: errors[0]?.code,
      isRolledBack: errors[0]?.details?.['rolled_back'],
      files: result?.kind === 'result' ? result.files.map(({ path }) => path) : [],
      left: readdirSync(scratch.workspace).sort(),
    };
  };
  assert.deepEqual(await outcome(false), { code: 'E_AST_PARSE', isRolledBack: true, files: [], left: ['folder'] });
  assert.deepEqual(await outcome(true), {
    code: 'E_AST_PARSE',
    isRolledBack: false,
    files: ['folder', 'source.ts'],
    left: ['source.ts'],
  });
  const recoveries = [...scratch.runtime.records({ kind: 'recovery' })];
  assert.deepEqual(
    recoveries.map((record) => record.kind === 'recovery' && [record.reason, record.note]),
    [['rollback_failed', 'Change cannot be taken back: folder']],
  );
});

/** The longest limit a call of the late tool gets. */
const MOST_MS = 20_480;

/** Does what it is told when its call has been answered, and tells how that went. */
function createLateTool(late: (context: ToolContext) => unknown) {
  let isStarted = false;
  const answered = Promise.withResolvers<void>();
  const outcome = Promise.withResolvers<unknown>();
  const tool = defineTool({
    ...createCounter('probe_late').tool,
    args: z.strictObject({ path: z.string() }),
    annotations: {
      kind: 'execute',
      side_effect_level: 'network',
      arg_schema: { path_params: ['path'] },
      inline_result: true,
    },
    run: async (_args, context) => {
      isStarted = true;
      await answered.promise;
      try {
        outcome.resolve(await late(context));
      } catch (thrown) {
        outcome.resolve(thrown);
      }
      return {};
    },
  });
  /** A busy machine may take longer than the limit to start the tool: then it gets more. */
  const leaveBehind = async (session: Pick<Session, 'call'>) => {
    const answers: string[] = [];
    for (let timeoutMs = 20; timeoutMs <= MOST_MS; timeoutMs *= 2) {
      const left = await session.call('probe_late', { path: 'a.txt' }, { timeoutMs });
      if (isStarted) return left;
      answers.push(JSON.stringify(left.errors));
    }
    throw new Error(`the tool was never started:\n${answers.join('\n')}`);
  };
  return { tool, leaveBehind, answer: () => answered.resolve(), outcome: outcome.promise };
}

const list = { pipelines: [{ operator: null, commands: [{ argv: ['true'], column: 1 }] }] };
const command = { list, cwd: '.', env: {}, stdin: null, network: false, maxOutputBytes: 10 };
const bytes = Buffer.from('late');

/** Everything a tool can change with. */
const LATE: Readonly<Record<string, (context: ToolContext) => unknown>> = {
  'workspace.writeFile': ({ workspace }) => workspace.writeFile('a.txt', bytes),
  'workspace.makeDirectory': ({ workspace }) => workspace.makeDirectory('folder'),
  'workspace.removeFile': ({ workspace }) => workspace.removeFile('a.txt'),
  'workspace.move': ({ workspace }) => workspace.move('a.txt', 'b.txt', { overwrite: true }),
  'workspace.copy': ({ workspace }) => workspace.copy('a.txt', 'b.txt', { overwrite: true, preserveMode: false }),
  'workspace.remove': ({ workspace }) => workspace.remove('a.txt', { recursive: true }),
  'git.run': ({ git }) => git.run({ words: ['init'], access: 'write' }),
  'git.files.write': ({ git }) => git.files.write('x', bytes),
  'git.files.replace': ({ git }) => git.files.replace('x', bytes),
  'git.files.remove': ({ git }) => git.files.remove('x'),
  'commands.start': ({ commands }) => commands.start(command),
  'http.send': ({ http }) =>
    http.send({ method: 'GET', url: 'http://127.0.0.1:1/', headers: {}, body: null, timeoutMs: 100, maxBytes: 10 }),
};

/** Once in many runs of the suite a test below did not end: then this says where it was. */
function stepsOf(t: TestContext): (step: string) => void {
  let last = '';
  t.signal.addEventListener('abort', () => last !== '' && console.error(`hangs at: ${last}`));
  t.after(() => {
    last = '';
  });
  return (step) => {
    last = step;
  };
}

describe('a tool that was left behind', { concurrency: true }, () => {
  for (const [name, late] of Object.entries(LATE)) {
    test(`changes nothing any more: ${name}`, async (t) => {
      const reach = stepsOf(t);
      const { tool, leaveBehind, answer, outcome } = createLateTool(late);
      const registry = { file: 'ops.yaml', text: 'version: 1\nside_effect_level: network\n' };
      reach('open');
      const { session, workspace, dispose } = await openScratchRuntime({ tools: [tool], registry });
      await session.call('file_write', { path: 'a.txt', content: 'first' });
      reach('leave behind');
      const left = await leaveBehind(session);
      assert.equal(left.errors[0]?.code, 'E_TIMEOUT');
      reach('write meanwhile');
      // Its lock is free, so others write; what it does afterwards must not touch that.
      const next = await session.call('file_write', { path: 'a.txt', content: 'second' });
      assert.ok(next.ok, JSON.stringify(next.errors));
      answer();
      reach('late change');
      const thrown = await outcome;
      assert.ok(thrown instanceof ToolError && thrown.code === 'E_TIMEOUT', String(thrown));
      assert.equal(readFileSync(join(workspace, 'a.txt'), 'utf8'), 'second');
      reach('dispose');
      await dispose();
    });
  }

  test('may still read, and one that ends in time writes', async () => {
    const { tool, leaveBehind, answer, outcome } = createLateTool(({ workspace }) => workspace.readFile('a.txt'));
    const registry = { file: 'ops.yaml', text: 'version: 1\nside_effect_level: network\n' };
    const { session, dispose } = await openScratchRuntime({ tools: [tool], registry });
    await session.call('file_write', { path: 'a.txt', content: 'first' });
    await leaveBehind(session);
    answer();
    assert.equal(Buffer.from(((await outcome) as { bytes: Uint8Array }).bytes).toString(), 'first');
    await dispose();
  });
});

describe('a grant', () => {
  test('is idle when the changes under way have ended, also those that fail', async () => {
    const grant = new Grant();
    const [good, bad] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const running = [grant.use(() => good.promise), grant.use(() => bad.promise).catch(() => {})];
    assert.equal(grant.isIdle, false);
    grant.revoke(() => new ToolError('E_TIMEOUT', 'over'));
    assert.throws(() => grant.use(() => 1), { message: 'over' });
    good.resolve();
    bad.reject(new Error('no'));
    await Promise.all([grant.idle(), ...running]);
    assert.equal(grant.isIdle, true);
  });
});

describe('a change whose index cannot follow in time', { concurrency: true }, () => {
  const judging = defineRule({
    id: 'test.judges',
    category: 'Test',
    description: 'Judges what was written',
    phase: 'after',
    trigger: 'always',
    defaultEnforcement: 'blocking',
    appliesTo: ({ changes }) => changes.length > 0,
    check: () => [],
  });
  const ast = { covers: () => true, refresh: () => new Promise<void>(() => {}), parseProblems: () => [] };

  for (const [isJudged, left] of [
    [true, 'old'],
    [false, 'new'],
  ] as const) {
    test(`${isJudged ? 'is taken back where rules would have judged it' : 'stands where no rule judges it'}`, async () => {
      const text = `version: 1\n${isJudged ? 'validators: [{ rule: test.judges }]\n' : ''}`;
      let isSlow = false;
      const index = { ...ast, refresh: () => (isSlow ? ast.refresh() : undefined) };
      const scratch = await openScratchRuntime({ ast: index, rules: [judging], registry: { file: 'r.yaml', text } });
      const write = (content: string, timeoutMs: number) =>
        scratch.session.call('file_write', { path: 'a.txt', content }, { timeoutMs });
      assert.ok((await write('old', 10_000)).ok);
      isSlow = true;
      // Long enough to write the file on a busy machine.
      const { errors } = await write('new', 3_000);
      assert.equal(errors[0]?.code, 'E_TIMEOUT', JSON.stringify(errors));
      assert.equal(errors[0]?.details?.['waited_for'], 'index');
      assert.equal(errors[0]?.details?.['rolled_back'], isJudged ? true : undefined);
      assert.equal(readFileSync(join(scratch.workspace, 'a.txt'), 'utf8'), left);
      await scratch.dispose();
    });
  }
});
