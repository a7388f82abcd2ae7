import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { ToolResponse } from '@tool-runtime/protocol';
import { createScratch, jsonLines, runCli, type Scratch } from '../../../test/run-cli.ts';
import { startServe } from '../../../test/start-serve.ts';

function writeRegistry(scratch: Scratch, text: string): string {
  const file = join(scratch.root, 'registry.yaml');
  writeFileSync(file, `version: 1\n${text}`);
  return file;
}

async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 20));
}

describe('tool-runtime approvals', () => {
  test('approvals are listed and answered from the command line, and only once (deep)', async () => {
    using scratch = createScratch();
    const registry = writeRegistry(scratch, 'approvals:\n  require_approval: [file_write]\n');
    await using host = await startServe(scratch, '--registry', registry);
    const call = await host.openSession({ client: { name: 'test', version: '1.0' } });
    const list = async () => jsonLines((await runCli(['approvals', '--json', ...scratch.options])).stdout);
    const first = call('file_write', { path: 'a', content: 'asked' });
    // Looked at below; a test that fails before that should say why, not that its host is gone.
    first.catch(() => {});
    await until(async () => (await list()).length === 1);
    const [question] = await list();
    const id = String(question?.['approval_id']);
    assert.equal(question?.['tool'], 'file_write');
    assert.match(JSON.stringify(question['args']), /^{"path":"a","content":"asked",/);
    const allowed = await runCli([
      'approvals',
      'allow',
      id,
      '--args',
      '{"path":"b","content":"edited"}',
      ...scratch.options,
    ]);
    assert.equal(allowed.code, 0, allowed.stderr);
    // Edited arguments are judged from the start, so the registry asks again.
    await until(async () => (await list()).some((open) => open['approval_id'] !== id));
    const [again] = await list();
    const session = await runCli([
      'approvals',
      'allow',
      String(again?.['approval_id']),
      '--session',
      ...scratch.options,
    ]);
    assert.equal(session.code, 0, session.stderr);
    assert.equal(((await (await first).json()) as ToolResponse).ok, true);
    assert.equal(readFileSync(join(scratch.workspace, 'b'), 'utf8'), 'edited');
    assert.equal(existsSync(join(scratch.workspace, 'a')), false);
    const late = await runCli(['approvals', 'deny', id, ...scratch.options]);
    assert.equal(late.code, 1);
    assert.match(late.stderr, /answered already/);
    assert.equal(((await (await call('file_write', { path: 'c', content: '' })).json()) as ToolResponse).ok, true);
  });

  test('a denial reaches the caller with its reason (deep)', async () => {
    using scratch = createScratch();
    const registry = writeRegistry(scratch, 'approvals:\n  require_approval: [file_write]\n');
    await using host = await startServe(scratch, '--registry', registry);
    const call = await host.openSession();
    const asked = call('file_write', { path: 'a', content: 'x' });
    let id = '';
    await until(async () => {
      const { approvals } = (await (await host.fetch('/v1/approvals')).json()) as {
        approvals: { approval_id: string }[];
      };
      id = approvals[0]?.approval_id ?? '';
      return id !== '';
    });
    await runCli(['approvals', 'deny', id, '--reason', 'not on a Friday', ...scratch.options]);
    const answer = (await (await asked).json()) as ToolResponse;
    assert.equal(answer.errors[0]?.code, 'E_POLICY');
    assert.match(answer.errors[0]?.message ?? '', /not on a Friday/);
    assert.equal(existsSync(join(scratch.workspace, 'a')), false);
  });

  test('shows what a command did on its overlay beside the command, a yes applies it and a no discards it (deep)', async () => {
    using scratch = createScratch();
    const lines = ['shell: { mode: sandboxed }', 'shell_ask: ["^echo"]', 'ask: with_effects', ''];
    const registry = writeRegistry(scratch, lines.join('\n'));
    await using host = await startServe(scratch, '--registry', registry);
    const call = await host.openSession();
    type Waiting = {
      approvals: { approval_id: string; effect: { kind: string; ran: { stdout: string; diff: string } } }[];
    };
    const question = async (): Promise<Waiting['approvals']> => {
      let waiting: Waiting['approvals'] = [];
      await until(async () => {
        waiting = ((await (await host.fetch('/v1/approvals')).json()) as Waiting).approvals;
        return waiting.length > 0;
      });
      return waiting;
    };
    const denied = call('shell_exec', { cmd: 'echo printed; echo refused > unmade' });
    const [no] = await question();
    assert.match(no?.effect.ran.diff ?? '', /\+refused\n/);
    await runCli(['approvals', 'deny', no?.approval_id ?? '', ...scratch.options]);
    const refusal = (await (await denied).json()) as ToolResponse;
    assert.equal(refusal.ok, false);
    assert.doesNotMatch(JSON.stringify(refusal), /"printed/, 'what it printed is part of what was refused');
    assert.equal(existsSync(join(scratch.workspace, 'unmade')), false);
    const asked = call('shell_exec', { cmd: 'echo printed; echo written > made' });
    const waiting = await question();
    assert.deepEqual([waiting[0]?.effect.kind, waiting[0]?.effect.ran.stdout], ['effects', 'printed\n']);
    assert.match(waiting[0]?.effect.ran.diff ?? '', /\+\+\+ b\/made\n[\s\S]*\+written\n/);
    const shown = await runCli(['approvals', ...scratch.options]);
    assert.match(
      shown.stdout,
      /line: echo printed; echo written > made\n[\s\S]*exit code: 0\n[\s\S]*printed\n[\s\S]*\+written\n/,
    );
    assert.equal(existsSync(join(scratch.workspace, 'made')), false);
    await runCli(['approvals', 'allow', waiting[0]?.approval_id ?? '', ...scratch.options]);
    assert.deepEqual(((await (await asked).json()) as ToolResponse).errors, []);
    assert.equal(existsSync(join(scratch.workspace, 'made')), true);
  });

  test('says so when nothing waits, and when no host runs (deep)', async () => {
    using scratch = createScratch();
    const none = await runCli(['approvals', ...scratch.options]);
    assert.equal(none.code, 1);
    assert.match(none.stderr, /No host runs/);
    await using _host = await startServe(scratch);
    const empty = await runCli(['approvals', ...scratch.options]);
    assert.deepEqual([empty.code, empty.stdout], [0, 'no questions are waiting\n']);
  });

  test('refuses arguments that are no object before anything is sent', async () => {
    using scratch = createScratch();
    const { code, stderr } = await runCli(['approvals', 'allow', 'x', '--args', '[]', ...scratch.options]);
    assert.equal(code, 2);
    assert.match(stderr, /JSON object/);
  });
});
