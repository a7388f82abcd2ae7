import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { ToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import { defineRule } from '../../contracts/rule.ts';
import { defineTool, type ToolContext } from '../../contracts/tool.ts';
import { createCounter } from '../../testing/probe-tools.ts';
import { openScratchRuntime } from '../../testing/scratch-runtime.ts';
import { Grant } from './grant.ts';

/** Does what it is told when its call has been answered, and tells how that went. */
function createLateTool(late: (context: ToolContext) => unknown) {
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
      await answered.promise;
      try {
        outcome.resolve(await late(context));
      } catch (thrown) {
        outcome.resolve(thrown);
      }
      return {};
    },
  });
  return { tool, answer: () => answered.resolve(), outcome: outcome.promise };
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

describe('a tool that was left behind', { concurrency: true }, () => {
  for (const [name, late] of Object.entries(LATE)) {
    test(`changes nothing any more: ${name}`, async () => {
      const { tool, answer, outcome } = createLateTool(late);
      const registry = { file: 'ops.yaml', text: 'version: 1\nside_effect_level: network\n' };
      const { session, workspace, dispose } = await openScratchRuntime({ tools: [tool], registry });
      await session.call('file_write', { path: 'a.txt', content: 'first' });
      const left = await session.call('probe_late', { path: 'a.txt' }, { timeoutMs: 20 });
      assert.equal(left.errors[0]?.code, 'E_TIMEOUT');
      // Its lock is free, so others write; what it does afterwards must not touch that.
      const next = await session.call('file_write', { path: 'a.txt', content: 'second' });
      assert.ok(next.ok, JSON.stringify(next.errors));
      answer();
      const thrown = await outcome;
      assert.ok(thrown instanceof ToolError && thrown.code === 'E_TIMEOUT', String(thrown));
      assert.equal(readFileSync(join(workspace, 'a.txt'), 'utf8'), 'second');
      await dispose();
    });
  }

  test('may still read, and one that ends in time writes', async () => {
    const { tool, answer, outcome } = createLateTool(({ workspace }) => workspace.readFile('a.txt'));
    const registry = { file: 'ops.yaml', text: 'version: 1\nside_effect_level: network\n' };
    const { session, dispose } = await openScratchRuntime({ tools: [tool], registry });
    await session.call('file_write', { path: 'a.txt', content: 'first' });
    await session.call('probe_late', { path: 'a.txt' }, { timeoutMs: 20 });
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
