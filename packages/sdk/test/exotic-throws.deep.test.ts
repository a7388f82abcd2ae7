/**
 * Whatever a tool, rule, hook or port throws, `session.call` resolves with one response and the journal has the call once.
 * Throws of every kind at every place where the code of others runs.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createContext, runInContext } from 'node:vm';
import { ERROR_CODES, ToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import { defineRule } from '../src/contracts/rule.ts';
import { defineTool } from '../src/contracts/tool.ts';
import type { RuntimeOptions } from '../src/runtime.ts';
import { createFaults } from '../src/testing/faulty-parts.ts';
import { openScratchRuntime, type ScratchRuntime } from '../src/testing/scratch-runtime.ts';

const explode = (): never => {
  throw new TypeError('a getter ran');
};
const trap = {
  get: explode,
  has: explode,
  getPrototypeOf: explode,
  ownKeys: explode,
  getOwnPropertyDescriptor: explode,
};
/** Thenables are meant here. */
const THEN = 'then';
const BRAND = Symbol.for('tool-runtime.ToolError');

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function tampered(field: string): ToolError {
  const error = new ToolError('E_POLICY', 'tampered');
  Object.defineProperty(error, field, { get: explode, configurable: true });
  Object.freeze(error);
  return error;
}

/** Each makes a fresh one. */
const EXOTIC: Readonly<Record<string, () => unknown>> = {
  undefined: () => undefined,
  null: () => null,
  false: () => false,
  symbol: () => Symbol('thrown'),
  bigint: () => 10n,
  function: () => explode,
  'revoked proxy': revoked,
  'proxy that throws': () => new Proxy({}, trap),
  'proxy of a ToolError': () => new Proxy(new ToolError('E_POLICY', 'behind a proxy'), trap),
  'object with throwing getters': () =>
    Object.defineProperties({}, { message: { get: explode }, [THEN]: { get: explode } }),
  'object whose toString throws': () => ({ toString: explode, [Symbol.toPrimitive]: explode, toJSON: explode }),
  'object without prototype': () => Object.create(null) as object,
  'frozen error with a throwing message': () =>
    Object.freeze(Object.defineProperty(new Error(), 'message', { get: explode })),
  'error whose message is no text': () => Object.assign(new Error(), { message: Symbol('m') }),
  'ToolError with a throwing message': () => tampered('message'),
  'ToolError with a throwing code': () => tampered('code'),
  'ToolError with throwing details': () => tampered('details'),
  'ToolError of an unknown code': () => new ToolError('E_NONE' as 'E_POLICY', 'no such code'),
  'ToolError with details in a circle': () => {
    const details: Record<string, unknown> = {};
    details['self'] = details;
    return new ToolError('E_POLICY', 'a circle', { details: details as never });
  },
  'ToolError with a bigint in its details': () => new ToolError('E_POLICY', 'big', { details: { big: 1n as never } }),
  'forged brand': () => ({ [BRAND]: true }),
  'forged brand with throwing fields': () =>
    Object.defineProperties({ [BRAND]: true }, { code: { get: explode }, details: { get: explode } }),
  'huge text': () => 'x'.repeat(5_000_000),
  thenable: () => ({ [THEN]: (_: unknown, reject: (reason: unknown) => void) => reject('later') }),
  'promise that is rejected': () =>
    Promise.reject(new Error('inner'))
      .finally(() => {})
      .catch(() => {}),
  'error of another realm': () => runInContext('new Error("elsewhere")', createContext({})) as unknown,
};

type Place = (make: () => unknown) => Partial<RuntimeOptions>;

const raise = (make: () => unknown): never => {
  throw make();
};
const later = async (make: () => unknown): Promise<never> => raise(make);
const ALLOW = { verdict: 'allow', reason: 'fine' } as const;
const ALLOWED = {
  stage: 'pre_tool',
  decision: { type: 'allow', reason: { code: 'fine' } },
  policy_refs: [],
  privacy: 'internal',
  retention: 'run_scoped',
} as const;

const tool = (run: () => Promise<object> | object) =>
  defineTool({
    name: 'probe_exotic',
    category: 'test',
    title: 'Probe',
    summary: 'Does what it is told',
    args: z.strictObject({}),
    data: z.strictObject({}),
    annotations: { kind: 'read', side_effect_level: 'read_only', arg_schema: {}, capabilities: {} },
    effect: 'read',
    risk: 'low',
    timeoutMs: 60_000,
    run,
  } as never);

const rule = (phase: 'before' | 'after', make: () => unknown, place: 'appliesTo' | 'check') =>
  defineRule({
    id: 'test.exotic',
    category: 'Test',
    description: 'Throws',
    phase,
    trigger: 'always',
    defaultEnforcement: 'blocking',
    always: true,
    appliesTo: () => (place === 'appliesTo' ? raise(make) : true),
    check: () => raise(make),
  });

const PLACES: Readonly<Record<string, Place>> = {
  'tool, at once': (make) => ({ tools: [tool(() => raise(make))] }),
  'tool, later': (make) => ({ tools: [tool(() => later(make))] }),
  'rule before': (make) => ({ rules: [rule('before', make, 'check')] }),
  'rule that does not know whether it applies': (make) => ({ rules: [rule('before', make, 'appliesTo')] }),
  'rule after': (make) => ({ rules: [rule('after', make, 'check')] }),
  'hook before': (make) => ({ hooks: [{ id: 'h', tools: '*', before: () => raise(make) }] }),
  'hook before, later': (make) => ({ hooks: [{ id: 'h', tools: '*', before: () => later(make) }] }),
  'hook after': (make) => ({ hooks: [{ id: 'h', tools: '*', after: () => raise(make) }] }),
  'policy before': (make) => ({ policy: { evaluatePreTool: () => raise(make), evaluatePostTool: () => ALLOWED } }),
  'policy after': (make) => ({ policy: { evaluatePreTool: () => ALLOWED, evaluatePostTool: () => later(make) } }),
  'budget reserve': (make) => ({ budget: { reserve: () => raise(make), spend: () => {} } }),
  'budget spend': (make) => ({ budget: { reserve: () => {}, spend: () => raise(make) } }),
  'coordinator evaluate': (make) => ({
    coordinator: { evaluate: () => later(make), reserve: () => ALLOW, spend: () => {} },
  }),
  'coordinator spend': (make) => ({
    coordinator: { evaluate: () => ALLOW, reserve: () => ALLOW, spend: () => raise(make) },
  }),
  'telemetry start': (make) => ({ telemetry: { startCall: () => raise(make) } }),
  'telemetry span': (make) => ({
    telemetry: { startCall: () => ({ stage: () => raise(make), end: () => raise(make) }) },
  }),
  'report of the unexpected': (make) => ({ tools: [tool(() => raise(make))], onUnexpected: () => raise(make) }),
  approvals: (make) => ({
    approvals: { ask: () => later(make) },
    registry: { file: 'r.yaml', text: 'version: 1\napprovals: {require_approval: [file_write]}\n' },
  }),
};

async function callOnce(scratch: ScratchRuntime, tool: string): Promise<void> {
  const args = tool === 'probe_exotic' ? {} : { path: 'file.txt', content: 'new' };
  const response = await scratch.session.call(tool, args);
  assert.equal(response.type, 'ToolResponse');
  assert.equal(response.ok, response.errors.length === 0);
  for (const { code } of response.errors) assert.ok((ERROR_CODES as readonly string[]).includes(code), code);
  assert.ok(JSON.stringify(response).length < 100_000, 'a bounded answer');
  const records = [...scratch.runtime.records()].flatMap((record) => ('call_id' in record ? [record] : []));
  const own = records.filter(({ call_id }) => call_id === records.at(-1)?.call_id);
  assert.equal(own.filter(({ kind }) => kind === 'requested').length, 1);
  const denials = own.filter((record) => record.kind === 'decision' && record.outcome === 'deny');
  const ends = own.filter(({ kind }) => kind === 'result').length + denials.length;
  assert.equal(ends, 1, `one end on record: ${own.map(({ kind }) => kind).join(' ')}`);
}

describe('exotic throws never escape a call', () => {
  for (const [place, optionsOf] of Object.entries(PLACES)) {
    test(`from: ${place}`, async () => {
      let make: () => unknown = () => undefined;
      const options = optionsOf(() => make());
      const tool = options.tools === undefined ? 'file_write' : 'probe_exotic';
      const scratch = await openScratchRuntime(options);
      let calls = 0;
      for (const [kind, next] of Object.entries(EXOTIC)) {
        make = next;
        calls += 1;
        await assert.doesNotReject(callOnce(scratch, tool), kind);
      }
      const requested = [...scratch.runtime.records()].filter(({ kind }) => kind === 'requested');
      assert.equal(requested.length, calls);
      assert.equal(scratch.runtime.verify().ok, true);
      await scratch.dispose();
    });
  }

  test('from every call of every port', async () => {
    for (const [kind, fault] of Object.entries(EXOTIC)) {
      for (let nth = 1; ; nth++) {
        const faults = createFaults({ nth, mode: 'once', fault });
        const scratch = await openScratchRuntime({ ports: { wrapParts: (parts) => faults.wrap(parts) } });
        writeFileSync(join(scratch.workspace, 'file.txt'), 'old');
        faults.armed = true;
        const response = await scratch.session.call(
          'file_write',
          { path: 'file.txt', content: 'new' },
          { idempotencyKey: 'k' },
        );
        faults.armed = false;
        assert.equal(response.type, 'ToolResponse', `${kind} at ${faults.calls[nth - 1]}`);
        JSON.stringify(response);
        await scratch.dispose();
        if (faults.calls.length < nth) break;
      }
    }
  });

  test('from a listener of events, which hears no more', async () => {
    for (const [kind, make] of Object.entries(EXOTIC)) {
      const scratch = await openScratchRuntime();
      let heard = 0;
      scratch.session.listen(() => {
        heard += 1;
        raise(make);
      });
      const seen: string[] = [];
      scratch.session.listen(({ message }) => void seen.push(message.event));
      await assert.doesNotReject(callOnce(scratch, 'file_write'), kind);
      assert.equal(heard, 1);
      assert.ok(seen.length > 1, 'others still hear');
      await scratch.dispose();
    }
  });

  test('and an ordinary refusal keeps its code, message and details', async () => {
    const error = new ToolError('E_HTTP', 'not today', { path: 'x', details: { reason: 'busy' } });
    const scratch = await openScratchRuntime({ tools: [tool(() => raise(() => error))] });
    const response = await scratch.session.call('probe_exotic', {});
    assert.deepEqual(response.errors[0], {
      code: 'E_HTTP',
      message: 'not today',
      path: 'x',
      details: { reason: 'busy', kind: 'tool_failure', retry: 'retryable' },
    });
    await scratch.dispose();
  });
});
