/** Every refusal and every cancellation reaches the caller with the same keys in its details, wherever it was made. */
import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type ErrorEntry, type JsonObject, toToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import { policyDenial } from '../src/contracts/failures.ts';
import type { RuleDefinition } from '../src/contracts/rule.ts';
import { defineTool } from '../src/contracts/tool.ts';
import { allowedOutcome } from '../src/policy/allow-all-policy.ts';
import type { RuntimeOptions } from '../src/runtime.ts';
import type { Session } from '../src/session/session.ts';
import { createCounter, nothing } from '../src/testing/probe-tools.ts';
import { openScratchRuntime, type ScratchRuntime } from '../src/testing/scratch-runtime.ts';

const KEYS = ['gate', 'kind', 'next', 'reason', 'retry'];

interface Refused {
  readonly registry?: string;
  readonly options?: Partial<RuntimeOptions>;
  readonly tool: string;
  readonly args?: JsonObject;
  prepare?(scratch: ScratchRuntime): void | Promise<void>;
}

const writes = createCounter().tool;
const YES = 'approvals: { auto_approve: ["*"] }\n';

const overreaching = defineTool({
  ...nothing,
  name: 'probe_overreach',
  args: z.strictObject({ text: z.enum(['write', 'network', 'process']) }),
  run: async ({ text: what }, { workspace, http, commands }) => {
    if (what === 'write') await workspace.writeFile('a', Buffer.from('x'));
    if (what === 'network') await http.send({} as never);
    if (what === 'process') await commands.start({} as never);
    return {};
  },
});

const always: RuleDefinition = {
  id: 'probe.always',
  category: 'Probe',
  description: 'Refuses everything',
  phase: 'before',
  trigger: 'always',
  defaultEnforcement: 'blocking',
  always: true,
  errorCode: 'E_POLICY',
  appliesTo: () => true,
  check: () => [{ message: 'never' }],
};

const REFUSED: Readonly<Record<string, Refused>> = {
  'an unknown tool': { tool: 'no_such_tool' },
  'a tool that is switched off': { registry: 'tools: { file_read: { enabled: false } }\n', tool: 'file_read' },
  'a tool above the ceiling': {
    registry: 'side_effect_level: read_only\n',
    tool: 'file_write',
    args: { path: 'a', content: 'x' },
  },
  'a denial of the approval policy': {
    registry: 'approvals: { auto_deny: [file_write] }\n',
    tool: 'file_write',
    args: { path: 'a', content: 'x' },
  },
  'a missing approver': { options: { tools: [{ ...writes, asksByDefault: true }] }, tool: 'probe_count' },
  'an approver that says no': {
    options: {
      tools: [{ ...writes, asksByDefault: true }],
      approvals: { ask: async () => ({ answer: 'denied', by: 'ann' }) },
    } as Partial<RuntimeOptions>,
    tool: 'probe_count',
  },
  'a path outside the workspace': { tool: 'file_read', args: { path: '../x' } },
  'an absolute path': { tool: 'file_read', args: { path: '/etc/passwd' } },
  'a link out of the workspace': {
    tool: 'file_read',
    args: { path: 'out/passwd' },
    prepare: ({ workspace }) => symlinkSync('/etc', join(workspace, 'out')),
  },
  'a file that governs git': {
    registry: YES,
    tool: 'file_write',
    args: { path: '.git/config', content: 'x' },
    prepare: ({ workspace }) => void mkdirSync(join(workspace, '.git')),
  },
  'a command that is not allowed': { registry: YES, tool: 'shell_exec', args: { cmd: 'rm -rf .' } },
  'a command that needs a shell': { registry: YES, tool: 'shell_exec', args: { cmd: 'echo $(id)' } },
  'a variable that is not allowed': {
    registry: `${YES}shell_allow: ["^ls$"]\n`,
    tool: 'shell_exec',
    args: { cmd: 'ls', env: { LD_PRELOAD: 'x' } },
  },
  'an address that is not allowed': { registry: YES, tool: 'curl', args: { url: 'https://example.com/' } },
  'a rule': { options: { rules: [always], tools: [nothing] }, tool: 'probe_nothing' },
  'a hook': {
    options: { tools: [nothing], hooks: [{ id: 'h', tools: '*', before: () => ({ type: 'deny', reason: 'no' }) }] },
    tool: 'probe_nothing',
  },
  'a broken hook': {
    options: { tools: [nothing], hooks: [{ id: 'h', tools: '*', before: () => assert.fail('broken') }] },
    tool: 'probe_nothing',
  },
  'the policy port': {
    options: {
      tools: [nothing],
      policy: {
        evaluatePreTool: (call) => ({
          ...allowedOutcome('pre_tool', call),
          decision: { type: 'deny', reason: { code: 'no' } },
        }),
        evaluatePostTool: (call) => allowedOutcome('post_tool', call),
      },
    },
    tool: 'probe_nothing',
  },
  'the policy port, after the call': {
    options: {
      tools: [nothing],
      policy: {
        evaluatePreTool: (call) => allowedOutcome('pre_tool', call),
        evaluatePostTool: (call) => ({
          ...allowedOutcome('post_tool', call),
          decision: { type: 'deny', reason: { code: 'no' } },
        }),
      },
    },
    tool: 'probe_nothing',
  },
  'the coordinator': {
    options: { tools: [nothing], coordinator: { evaluate: () => ({ verdict: 'deny', reason: 'busy' }) } },
    tool: 'probe_nothing',
  },
  'a budget of the embedding program': {
    options: {
      tools: [nothing],
      budget: {
        reserve: () => {
          throw policyDenial('Used up');
        },
        spend: () => {},
      },
    },
    tool: 'probe_nothing',
  },
  'the budget of the session': {
    registry: 'budgets: { max_calls: 1 }\n',
    options: { tools: [nothing] },
    tool: 'probe_nothing',
    prepare: async ({ session }) => void (await session.call('probe_nothing', {})),
  },
  'a read-only call that writes': {
    options: { tools: [overreaching] },
    tool: 'probe_overreach',
    args: { text: 'write' },
  },
  'a call without network that connects': {
    options: { tools: [overreaching] },
    tool: 'probe_overreach',
    args: { text: 'network' },
  },
  'a call that may not start processes': {
    options: { tools: [overreaching] },
    tool: 'probe_overreach',
    args: { text: 'process' },
  },
};

function requireKeys(entry: ErrorEntry | undefined): void {
  const texts = KEYS.filter((key) => typeof entry?.details?.[key] === 'string');
  assert.deepEqual(texts, KEYS, JSON.stringify(entry));
}

describe('a refusal has gate, kind, next, reason and retry', () => {
  for (const [what, { registry = '', options, tool, args = {}, prepare }] of Object.entries(REFUSED)) {
    test(`when it comes from ${what}`, async (t) => {
      const text = `version: 1\n${registry}`;
      const scratch = await openScratchRuntime({ registry: { file: 'r.yaml', text }, ...options });
      t.after(scratch.dispose);
      await prepare?.(scratch);
      const { ok, errors } = await scratch.session.call(tool, args);
      assert.deepEqual([ok, errors[0]?.code], [false, 'E_POLICY'], JSON.stringify(errors));
      requireKeys(errors[0]);
    });
  }

  test('when a session that has ended is asked', async () => {
    const { session, dispose } = await openScratchRuntime({ tools: [nothing] });
    await session.close();
    const thrown = await session.call('probe_nothing', {}).then(() => assert.fail('answered'), toToolError);
    requireKeys(thrown.toEntry());
    await dispose();
  });

  test('when an envelope names another session', async (t) => {
    const { session, dispose } = await openScratchRuntime({ tools: [nothing] });
    t.after(dispose);
    const answer = await session.handle({
      type: 'ToolRequest',
      tool: 'probe_nothing',
      args: {},
      request_id: 'r1',
      session_id: 'other',
      timestamp: 1,
    });
    requireKeys(answer as unknown as ErrorEntry);
  });

  test('when it is a step of a plan', async (t) => {
    const { session, dispose } = await openScratchRuntime();
    t.after(dispose);
    const { steps } = await session.propose({ steps: [{ tool: 'file_read', args: { path: '../x' } }] });
    requireKeys(steps[0]?.errors[0]);
  });
});

/** Waits until its signal fires, then fails in a way of its own. */
function createPatient() {
  const { promise: started, resolve: start } = Promise.withResolvers<void>();
  const tool = defineTool({
    ...nothing,
    name: 'probe_patient',
    run: (_args, { signal }) => {
      start();
      return new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(new TypeError('interrupted')), { once: true });
      });
    },
  });
  return { tool, started };
}

type Cancel = (session: Session, controller: AbortController) => unknown;

const CANCELS: Readonly<Record<string, Cancel>> = {
  'its signal': (_session, controller) => controller.abort(),
  'its signal, with a reason of its own': (_session, controller) => controller.abort(new Error('changed my mind')),
  'closing the session': (session) => void session.close({ cancel: true }),
};

describe('a cancelled call is reported as cancelled', () => {
  for (const [by, cancel] of Object.entries(CANCELS)) {
    test(`when it is cancelled by ${by}`, async (t) => {
      const faults: unknown[] = [];
      const statuses: unknown[] = [];
      const { tool, started } = createPatient();
      const onUnexpected = (error: unknown) => void faults.push(error);
      const { session, runtime, dispose } = await openScratchRuntime({ tools: [tool], onUnexpected });
      t.after(dispose);
      session.listen(({ message }) => statuses.push(message.data?.['outcome']));
      const controller = new AbortController();
      const answering = session.call('probe_patient', {}, { signal: controller.signal });
      await started;
      const ended = cancel(session, controller);
      const { ok, errors } = await answering;
      const codes = session.metrics()['probe_patient']?.errorCodes;
      await ended;
      assert.equal(ok, false);
      assert.match(errors[0]?.message ?? '', /^Call was cancelled/);
      assert.deepEqual([errors[0]?.code, errors[0]?.details?.['kind']], ['E_INTERNAL', 'cancellation']);
      assert.equal(errors[0]?.details?.['reason'], 'cancelled');
      requireKeys(errors[0]);
      assert.deepEqual(codes ?? { cancelled: 1 }, { cancelled: 1 });
      assert.equal(statuses.at(-1), 'cancelled');
      const results = [...runtime.records()].filter((record) => record.kind === 'result');
      assert.deepEqual(
        results.map((record) => record.status),
        ['cancelled'],
      );
      assert.deepEqual(faults, []);
    });
  }

  test('when it is cancelled before it begins', async (t) => {
    const { session, runtime, dispose } = await openScratchRuntime({ tools: [nothing] });
    t.after(dispose);
    const { errors } = await session.call('probe_nothing', {}, { signal: AbortSignal.abort() });
    assert.equal(errors[0]?.message, 'Call was cancelled');
    requireKeys(errors[0]);
    assert.deepEqual(session.metrics()['probe_nothing']?.errorCodes, { cancelled: 1 });
    const [decision] = [...runtime.records()].filter((record) => record.kind === 'decision');
    assert.deepEqual([decision?.code, decision?.message], ['cancelled', 'Call was cancelled']);
  });
});
