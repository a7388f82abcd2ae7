import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { isJsonObject, type ToolResponse } from '@tool-runtime/protocol';
import { z } from 'zod';
import type { ApprovalReply, ApprovalRequest } from '../../contracts/policy.ts';
import { defineTool, type ToolContext } from '../../contracts/tool.ts';
import type { RuntimeOptions } from '../../runtime.ts';
import { openScratchRuntime, type ScratchRuntime } from '../../testing/scratch-runtime.ts';

interface Asked extends ScratchRuntime {
  readonly questions: ApprovalRequest[];
}

const SHELL = ['version: 1', 'shell_ask: ["^(rm|touch|echo|cat|sleep)"]'];

async function asked(
  lines: readonly string[],
  reply: (request: ApprovalRequest, scratch: () => ScratchRuntime) => ApprovalReply | Promise<ApprovalReply>,
  use: (scratch: Asked) => Promise<void>,
  tools: RuntimeOptions['tools'] = [],
): Promise<void> {
  const questions: ApprovalRequest[] = [];
  let scratch: ScratchRuntime | undefined;
  const current = (): ScratchRuntime => {
    assert.ok(scratch);
    return scratch;
  };
  scratch = await openScratchRuntime({
    registry: { file: 'ops.yaml', text: [...SHELL, ...lines, ''].join('\n') },
    tools,
    approvals: {
      async ask(request) {
        questions.push(request);
        return reply(request, current);
      },
    },
  });
  try {
    await use({ ...scratch, questions });
  } finally {
    await scratch.dispose();
  }
}

const YES = (): ApprovalReply => ({ answer: 'approved', by: 'anna' });
const NO = (): ApprovalReply => ({ answer: 'denied', by: 'anna', reason: 'not today' });
const reasonOf = ({ errors }: ToolResponse) => errors[0]?.details?.['reason'];
const SANDBOXED = 'shell: { mode: sandboxed }';
const WITH_EFFECTS = [SANDBOXED, 'ask: with_effects'];

describe('ask: with_effects', () => {
  test('shows the approver what the command printed and changes; a yes makes exactly that real', () =>
    asked(
      WITH_EFFECTS,
      (_, scratch) => {
        assert.equal(readFileSync(join(scratch().workspace, 'old'), 'utf8'), 'one\n');
        return YES();
      },
      async ({ session, workspace, questions }) => {
        writeFileSync(join(workspace, 'old'), 'one\n');
        const answer = await session.call('shell_exec', {
          cmd: 'echo two >> old; echo $RANDOM$RANDOM > made; cat made',
        });
        assert.deepEqual(answer.errors, []);
        const [question] = questions;
        assert.equal(questions.length, 1);
        assert.deepEqual(question?.allowedAnswers, ['approved', 'denied']);
        assert.equal(question.effect?.kind, 'effects');
        const made = readFileSync(join(workspace, 'made'), 'utf8');
        assert.equal(question.effect.ran?.stdout, made);
        assert.equal(question.effect.ran.exit_code, 0);
        assert.match(question.effect.ran.diff, /\+\+\+ b\/old\n[\s\S]*\+two\n/);
        assert.ok(question.effect.text.includes(`+${made.trim()}`));
        assert.match(question.effect.text, /^folder: \.\nline: echo two/);
        assert.equal(readFileSync(join(workspace, 'old'), 'utf8'), 'one\ntwo\n');
        assert.ok(isJsonObject(answer.data) && answer.data['stdout'] === made);
        assert.ok(answer.change_id);
        const undone = await session.call('change_undo', { change_id: answer.change_id });
        assert.deepEqual([undone.errors, existsSync(join(workspace, 'made'))], [[], false]);
      },
    ));

  test('a no discards all of it, and what was printed stays with the approver', () =>
    asked(WITH_EFFECTS, NO, async ({ session, workspace, state, questions }) => {
      const answer = await session.call('shell_exec', { cmd: 'echo printed-canary; echo x > made' });
      assert.deepEqual([reasonOf(answer), answer.data, answer.change_id], ['approval.denied', null, undefined]);
      assert.match(answer.errors[0]?.message ?? '', /not today/);
      assert.equal(questions[0]?.effect?.ran?.stdout, 'printed-canary\n');
      assert.equal(JSON.stringify(answer).includes('printed-canary'), false);
      assert.deepEqual(readdirSync(workspace), []);
      const { data } = await session.call('change_list', {});
      assert.deepEqual((data as { changes: unknown[] }).changes, []);
      // What failed is removed before the answer; an empty overlay waits for the next command.
      const kept = readdirSync(join(state, 'overlays'), { recursive: true, encoding: 'utf8' });
      assert.deepEqual(
        kept.filter((path) => path.endsWith('/made')),
        [],
      );
    }));

  test('an edited answer, a session-long yes and a missing approver apply nothing', async () => {
    for (const [reply, reason] of [
      [{ ...YES(), args: { cmd: 'true' } }, 'approval.cannot_edit'],
      [{ ...YES(), answer: 'approved_for_session' as const }, 'approval.disallowed_answer'],
    ] as const) {
      await asked(
        WITH_EFFECTS,
        () => reply,
        async ({ session, workspace }) => {
          const answer = await session.call('shell_exec', { cmd: 'touch made' });
          assert.deepEqual([reasonOf(answer), readdirSync(workspace)], [reason, []]);
        },
      );
    }
    const text = [...SHELL, ...WITH_EFFECTS, ''].join('\n');
    const alone = await openScratchRuntime({ registry: { file: 'ops.yaml', text } });
    try {
      const answer = await alone.session.call('shell_exec', { cmd: 'touch made' });
      assert.equal(reasonOf(answer), 'missing.approval_dispatcher');
      assert.deepEqual(readdirSync(alone.workspace), []);
      assert.equal(existsSync(join(alone.state, 'overlays')), false);
    } finally {
      await alone.dispose();
    }
  });

  test('what changed while the approver thought is not overwritten, and nothing is applied', () =>
    asked(
      WITH_EFFECTS,
      (_, scratch) => {
        writeFileSync(join(scratch().workspace, 'old'), 'by someone else\n');
        return YES();
      },
      async ({ session, workspace }) => {
        writeFileSync(join(workspace, 'old'), 'one\n');
        const answer = await session.call('shell_exec', { cmd: 'echo two >> old; touch made' });
        assert.equal(reasonOf(answer), 'precondition_failed');
        assert.equal(readFileSync(join(workspace, 'old'), 'utf8'), 'by someone else\n');
        assert.equal(existsSync(join(workspace, 'made')), false);
      },
    ));

  test('a command gets no network before it is approved, and cannot go on as a job', () =>
    asked([...WITH_EFFECTS, 'side_effect_level: network'], YES, async ({ session, workspace, questions }) => {
      const network = await session.call('shell_exec', { cmd: 'touch made', allow_network: true });
      const job = await session.call('shell_exec', { cmd: 'touch made', yield_after_ms: 0 });
      assert.deepEqual([reasonOf(network), reasonOf(job)], ['network_before_approval', 'no_jobs_in_preview']);
      assert.deepEqual([readdirSync(workspace), questions.length], [[], 0]);
      const plain = await session.call('shell_exec', { cmd: 'touch made' });
      assert.deepEqual([plain.errors, readdirSync(workspace)], [[], ['made']]);
    }));

  test('with_effects_and_network lets the run use the network that the call asks for', () =>
    asked(
      [SANDBOXED, 'ask: with_effects_and_network', 'side_effect_level: network'],
      YES,
      async ({ session, workspace }) => {
        const answer = await session.call('shell_exec', { cmd: 'touch made', allow_network: true });
        assert.deepEqual([answer.errors, readdirSync(workspace)], [[], ['made']]);
      },
    ));

  test('a held command may read the caches and change nothing outside the workspace, an approved one before it could', () =>
    asked(WITH_EFFECTS, NO, async ({ session, state, questions }) => {
      const cache = '/var/cache/packages/npm';
      assert.deepEqual((await session.call('shell_exec', { cmd: `mkdir ${cache}/free` })).errors, []);
      await session.call('shell_exec', { cmd: `echo held; mkdir ${cache}/held` });
      assert.match(questions[0]?.effect?.ran?.stderr ?? '', /Read-only file system/);
      const [own = ''] = readdirSync(join(state, 'caches'));
      assert.deepEqual(readdirSync(join(state, 'caches', own, 'npm')), ['free']);
    }));

  test('a tool that is let run for its commands alone can do nothing else, and has to start them', () => {
    const attempt = (name: string, run: (context: ToolContext) => unknown) =>
      defineTool({
        ...{
          name,
          category: 'proc',
          title: name,
          summary: name,
          effect: 'process',
          risk: 'high',
          rehearse: 'none',
          timeoutMs: 60_000,
        },
        args: z.strictObject({ cmd: z.string() }),
        data: z.null(),
        annotations: {
          kind: 'execute',
          side_effect_level: 'network',
          arg_schema: { command_params: ['cmd'] },
          capabilities: { process: ['exec'], workspace: ['read', 'write'] },
        },
        run: async (_, context) => {
          await run(context);
          return null;
        },
      });
    const tools = [
      attempt('probe_write', ({ workspace }) => workspace.writeFile('made', Buffer.from('x'))),
      attempt('probe_commit', ({ history }) =>
        history.commit([{ path: 'made', before: { kind: 'absent' }, after: { kind: 'folder', mode: 0o755 } }]),
      ),
      attempt('probe_send', ({ http }) =>
        http.send({ method: 'GET', url: 'http://127.0.0.1:1/', headers: {}, body: null } as never),
      ),
      attempt('probe_idle', () => {}),
    ];
    const lines = [...WITH_EFFECTS, 'side_effect_level: network'];
    return asked(
      lines,
      YES,
      async ({ session, workspace, questions }) => {
        const said = [];
        for (const { name } of tools) said.push((await session.call(name, { cmd: 'touch x' })).errors[0]?.message);
        assert.deepEqual(said, [
          'This call may only read: made',
          'This call may only read',
          'This call may not use the network',
          'The call ended without the approval it needs',
        ]);
        assert.deepEqual([readdirSync(workspace), questions.length], [[], 0]);
      },
      tools,
    );
  });

  test('where no overlay can be made the command does not run and no question is asked', () => {
    const lines = ['ask: with_effects', 'isolation: none', 'shell_allow: ["^touch made$"]'];
    return asked(lines, YES, async ({ session, workspace, questions }) => {
      const answer = await session.call('shell_exec', { argv: ['touch', 'made'] });
      assert.equal(reasonOf(answer), 'no_overlay');
      assert.deepEqual([readdirSync(workspace), questions.length], [[], 0]);
    });
  });

  test('commands that policy does not ask about run as always, and plain questions come before the run', () =>
    asked(WITH_EFFECTS, YES, async ({ session, workspace, questions }) => {
      assert.deepEqual((await session.call('shell_exec', { cmd: 'mkdir sub' })).errors, []);
      assert.deepEqual([readdirSync(workspace), questions.length], [['sub'], 0]);
    }));

  test('a command that is cancelled while the approver thinks leaves nothing', () => {
    const cancel = new AbortController();
    return asked(
      WITH_EFFECTS,
      () => {
        cancel.abort();
        return new Promise<never>(() => {});
      },
      async ({ session, workspace }) => {
        const answer = await session.call('shell_exec', { cmd: 'touch made' }, { signal: cancel.signal });
        assert.equal(answer.ok, false);
        assert.deepEqual(readdirSync(workspace), []);
      },
    );
  });

  test('the record has the question before the run and the answer before the change', () =>
    asked(WITH_EFFECTS, YES, async ({ runtime, session }) => {
      assert.deepEqual((await session.call('shell_exec', { cmd: 'touch made' })).errors, []);
      const records = [...runtime.records()].filter(({ kind }) => kind !== 'session');
      const order = records.map((record) => (record.kind === 'approval' ? `approval ${record.phase}` : record.kind));
      assert.deepEqual(order, [
        'requested',
        'decision',
        'intent',
        'approval dispatched',
        'approval answered',
        'decision',
        'result',
      ]);
    }));
});
