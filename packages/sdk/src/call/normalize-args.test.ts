import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isToolError, type JsonValue } from '@tool-runtime/protocol';
import { z } from 'zod';
import { type CallProfile, defineTool } from '../contracts/tool.ts';
import { nothing } from '../testing/probe-tools.ts';
import { openScratchRuntime } from '../testing/scratch-runtime.ts';
import { narrowProfile, requireKeys, rewriteAliases } from './normalize-args.ts';

const worst: CallProfile = { kind: 'edit', side_effect_level: 'workspace_write', effect: 'write', risk: 'medium' };

test('a call may be lower than its tool declares, and never higher [S2-18]', () => {
  assert.deepEqual(narrowProfile(worst, { side_effect_level: 'read_only', kind: 'read' }), {
    ...worst,
    side_effect_level: 'read_only',
    kind: 'read',
  });
  assert.deepEqual(narrowProfile(worst, { side_effect_level: 'workspace_write' }), worst);
  for (const side_effect_level of ['process_exec', 'network'] as const) {
    assert.throws(() => narrowProfile(worst, { side_effect_level }), {
      code: 'E_VALIDATION_FAIL',
    });
  }
});

test('counts absent and null keys as missing, and falsy values as given [S2-15]', () => {
  const required = (args: Record<string, JsonValue>, keys: readonly string[]) => () => requireKeys(args, keys, 'any');
  const message = 'Required arguments are missing for any: ';
  assert.throws(required({ a: null, c: 0, d: '', e: false }, ['a', 'b', 'c', 'd', 'e']), { message: `${message}a, b` });
  assert.throws(required({}, ['toString']), { message: `${message}toString` });
});

test('names every missing required key in one error [S2-15]', () => {
  assert.throws(
    () => requireKeys({ a: null, c: 1 }, ['a', 'b', 'c'], 'fs_move'),
    (thrown) =>
      isToolError(thrown) &&
      thrown.code === 'E_VALIDATION_FAIL' &&
      thrown.message === 'Required arguments are missing for fs_move: a, b',
  );
  requireKeys({ a: 1, b: 2, c: 3 }, ['a', 'b', 'c'], 'fs_move');
});

const aliases = { file: 'path', filename: 'path', text: 'content' };

function refusal(args: Record<string, JsonValue>): string {
  try {
    rewriteAliases(args, aliases);
  } catch (thrown) {
    assert.ok(isToolError(thrown));
    assert.equal(thrown.code, 'E_VALIDATION_FAIL');
    return thrown.message;
  }
  return 'accepted';
}

describe('rewriteAliases', () => {
  test('moves each alias to its canonical key and keeps the rest [S2-14]', () => {
    const args = { file: 'a', text: 'b', mode: 1 };
    assert.deepEqual(rewriteAliases(args, aliases), { path: 'a', content: 'b', mode: 1 });
    assert.deepEqual(args, { file: 'a', text: 'b', mode: 1 });
  });

  test('returns the same object when there is nothing to do [S2-14]', () => {
    const args = { path: 'a' };
    assert.equal(rewriteAliases(args, aliases), args);
    assert.equal(rewriteAliases(args, {}), args);
    const list = ['file'] as unknown as Record<string, JsonValue>;
    assert.equal(rewriteAliases(list, aliases), list);
  });

  test('refuses a value under an alias and its canonical key [S2-14]', () => {
    assert.equal(refusal({ file: 'a', path: 'b' }), 'Argument is given under two names: file and path');
    assert.equal(refusal({ file: 'a', path: null }), 'Argument is given under two names: file and path');
    assert.equal(refusal({ file: 'a' }), 'accepted');
  });

  test('refuses two aliases of one key, whatever their order [S2-14]', () => {
    assert.equal(refusal({ filename: 'a', file: 'b' }), 'Argument is given under two names: filename and file');
    assert.equal(refusal({ file: 'b', filename: 'a' }), 'Argument is given under two names: filename and file');
  });

  test('does not follow chains: each key moves one step [S2-14]', () => {
    assert.deepEqual(rewriteAliases({ a: 1 }, { a: 'b', b: 'c' }), { b: 1 });
    assert.deepEqual(rewriteAliases({ z: 1 }, { z: 'y', y: 'x' }), { y: 1 });
    assert.throws(() => rewriteAliases({ a: 1, b: 2 }, { a: 'b', b: 'c' }), isToolError);
  });

  test('never touches the prototype [S2-14]', () => {
    const args = JSON.parse('{"__proto__":{"polluted":true},"file":"a"}') as Record<string, JsonValue>;
    const hostile = JSON.parse('{"__proto__":"path","file":"__proto__"}') as Record<string, string>;
    assert.equal(rewriteAliases(args, hostile), args);
    const rewritten = rewriteAliases(args, aliases);
    assert.equal(Object.getPrototypeOf(rewritten), Object.prototype);
    assert.equal((rewritten as { polluted?: unknown }).polluted, undefined);
    assert.equal(Object.hasOwn(rewritten, '__proto__'), true);
    assert.equal(rewriteAliases({ path: 'x' }, { toString: 'path' })['path'], 'x');
  });
});

test('arguments that came as objects have the size limit of requests that came as text', async (t) => {
  const registry = { file: 'r.yaml', text: 'version: 1\nlimits: { max_request_bytes: 1024 }\n' };
  const { session, dispose } = await openScratchRuntime({ tools: [nothing], registry });
  t.after(dispose);
  const send = (chars: number) => session.call('probe_nothing', { text: '\u20ac'.repeat(chars) });
  assert.equal((await send(340)).ok, true);
  const { ok, errors } = await send(342);
  assert.deepEqual([ok, errors[0]?.code, errors[0]?.details?.['reason']], [false, 'E_VALIDATION_FAIL', 'too_large']);
});

test('a field that is not known inside an argument is answered with those that are', async (t) => {
  const tool = defineTool({
    name: 'probe_where',
    category: 'probe',
    title: 'Where',
    summary: 'Takes fields inside an argument',
    annotations: { kind: 'read', side_effect_level: 'read_only' },
    effect: 'read',
    risk: 'low',
    timeoutMs: 60_000,
    args: z.strictObject({ where: z.array(z.strictObject({ name_like: z.string().optional() })).default([]) }),
    data: z.strictObject({}),
    run: () => ({}),
  });
  const { session, dispose } = await openScratchRuntime({ tools: [tool] });
  t.after(dispose);
  assert.deepEqual((await session.call('probe_where', { where: [{ name_like: 'x' }] })).errors, []);
  const { errors } = await session.call('probe_where', { where: [{ name: 'x' }] });
  assert.equal(errors[0]?.details?.['next'], 'the fields of where.0 are name_like');
});
