import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isToolError, type JsonObject, type JsonValue } from '@tool-runtime/protocol';
import type { BeforeHookAnswer, CallView, Hook } from '../contracts/policy.ts';
import { compileHooks, MAX_HOOK_CHANGES } from './hook-set.ts';

function view(args: JsonObject = { path: 'a' }, tool = 'file_write'): CallView {
  return {
    callId: 'call-1',
    sessionId: 'session-1',
    tool,
    args,
    argsSummary: 'summary',
    profile: { kind: 'edit', side_effect_level: 'workspace_write', effect: 'write', risk: 'medium' },
    mutationClass: 'workspace_write',
    paths: [String(args['path'])],
    actor: 'tester',
    policyRefs: [],
    source: { kind: 'user', id: 'user-1', trust: 'user_provided', privacy: 'internal' },
    destination: { kind: 'tool', id: tool },
  };
}

function hook(id: string, before: (call: CallView) => unknown, tools = '*'): Hook {
  return { id, tools, before: (call) => before(call) as BeforeHookAnswer };
}

const allow = () => ({ type: 'allow' });
const append = (suffix: string) => (call: CallView) => ({
  type: 'modify',
  args: { path: `${call.args['path']}${suffix}` },
});

describe('compileHooks before', () => {
  test('allows when no hook concerns the tool or none objects [S2-28]', async () => {
    const hooks = compileHooks([hook('one', allow), hook('two', () => ({ type: 'deny', reason: 'no' }), 'git_*')]);
    assert.deepEqual(await hooks.runBefore(view()), { type: 'allow' });
    assert.equal((await hooks.runBefore(view({}, 'git_push'))).type, 'deny');
    assert.equal(compileHooks([]).isEmpty, true);
  });

  test('runs hooks in order and stops at the first denial [S2-28]', async () => {
    const seen: string[] = [];
    const note = (id: string, answer: unknown) =>
      hook(id, () => {
        seen.push(id);
        return answer;
      });
    const hooks = compileHooks([
      note('a', { type: 'allow' }),
      note('b', { type: 'deny', reason: 'first' }),
      note('c', { type: 'deny', reason: 'second' }),
    ]);
    const outcome = await hooks.runBefore(view());
    assert.ok(outcome.type === 'deny');
    assert.deepEqual([outcome.hook, outcome.reason, outcome.error.code], ['b', 'first', 'E_POLICY']);
    assert.deepEqual(seen, ['a', 'b']);
  });

  test('chains modifications and names who made them [S2-28]', async () => {
    const hooks = compileHooks([hook('a', append('1')), hook('b', allow), hook('c', append('2'))]);
    assert.deepEqual(await hooks.runBefore(view()), { type: 'modified', args: { path: 'a12' }, hooks: ['a', 'c'] });
  });

  test('shows later hooks the view rebuilt by the caller [S2-28]', async () => {
    const seen: string[] = [];
    const hooks = compileHooks([
      hook('a', append('/../../etc')),
      hook('b', (call) => {
        seen.push(...call.paths);
        return { type: 'allow' };
      }),
    ]);
    const changes: string[] = [];
    const onModified = (change: { hook: string; args: JsonObject }): CallView => {
      changes.push(change.hook);
      return view(change.args);
    };
    await hooks.runBefore(view(), { onModified });
    assert.deepEqual([seen, changes], [['a/../../etc'], ['a']]);
  });

  test('a denial after a modification still wins [S2-28]', async () => {
    const hooks = compileHooks([hook('a', append('1')), hook('b', () => ({ type: 'deny', reason: 'no' }))]);
    assert.equal((await hooks.runBefore(view())).type, 'deny');
  });

  test('a hook that throws or answers nonsense is a denial [S2-28]', async () => {
    const answers = [
      () => {
        throw new TypeError('secret detail');
      },
      () => Promise.reject(new TypeError('secret detail')),
      () => undefined,
      () => null,
      () => 'allow',
      () => ({ type: 'approve' }),
      () => ({ type: 'modify' }),
      () => ({ type: 'modify', args: ['x'] }),
      () => ({ type: 'modify', args: { when: new Date(0) } }),
    ];
    for (const answer of answers) {
      const outcome = await compileHooks([hook('broken', answer)]).runBefore(view());
      assert.ok(outcome.type === 'deny', String(answer));
      assert.equal(outcome.error.details['kind'], 'hook_failure');
      assert.equal(outcome.error.code, 'E_POLICY');
      assert.ok(!JSON.stringify(outcome.error.toEntry()).includes('secret'));
    }
  });

  test('bounds the number of modifications [S2-28]', async () => {
    const many = (count: number) => Array.from({ length: count }, (_, at) => hook(`h${at}`, append('x')));
    assert.equal((await compileHooks(many(MAX_HOOK_CHANGES)).runBefore(view())).type, 'modified');
    assert.equal((await compileHooks(many(MAX_HOOK_CHANGES + 1)).runBefore(view())).type, 'deny');
  });

  test('a hook cannot change arguments behind the back of the gates [S2-28]', async () => {
    const kept: JsonObject[] = [];
    const call = view();
    const hooks = compileHooks([
      hook('edits in place', (seen) => {
        (seen.args as Record<string, JsonValue>)['path'] = '/etc';
        return { type: 'allow' };
      }),
      hook('keeps what it gave', () => {
        kept.push({ path: 'b' });
        return { type: 'modify', args: kept[0] };
      }),
    ]);
    const outcome = await hooks.runBefore(call);
    (kept[0] as Record<string, JsonValue>)['path'] = '/etc';
    assert.deepEqual(call.args, { path: 'a' });
    assert.ok(outcome.type === 'modified');
    assert.deepEqual(outcome.args, { path: 'b' });
  });

  test('calls hooks that are objects of a class [S2-28]', async () => {
    class Counting implements Hook {
      readonly id = 'counting';
      readonly tools = '*';
      calls = 0;
      before(): BeforeHookAnswer {
        this.calls += 1;
        return { type: 'allow' };
      }
    }
    const counting = new Counting();
    await compileHooks([counting]).runBefore(view());
    assert.equal(counting.calls, 1);
  });

  test('refuses hooks without an id of their own and with a bad pattern [S2-28]', () => {
    assert.throws(() => compileHooks([hook('a', allow), hook('a', allow)]), TypeError);
    assert.throws(() => compileHooks([hook('', allow)]), TypeError);
    assert.throws(() => compileHooks([hook('a', allow, '[')]), isToolError);
  });
});

describe('compileHooks after', () => {
  test('chains rewrites of the result [S2-28]', async () => {
    const add = (id: string): Hook => ({
      id,
      tools: '*',
      after: (_, data) => ({ type: 'modify', data: `${data}${id}` }),
    });
    const hooks = compileHooks([add('1'), { id: 'p', tools: '*', after: () => ({ type: 'pass' }) }, add('2')]);
    assert.deepEqual(await hooks.runAfter(view(), 'x'), { type: 'modified', data: 'x12', hooks: ['1', '2'] });
    assert.deepEqual(await compileHooks([]).runAfter(view(), 'x'), { type: 'pass' });
  });

  test('an answer that no after-hook can give withholds the result [S2-28]', async () => {
    for (const answer of [undefined, null, 'pass', { type: 'allow' }, { type: 'modify', data: new Date(0) }]) {
      const outcome = await compileHooks([{ id: 'odd', tools: '*', after: () => answer as never }]).runAfter(
        view(),
        'x',
      );
      assert.ok(outcome.type === 'deny', String(answer));
      assert.equal(outcome.error.details['kind'], 'hook_failure');
    }
  });

  test('an after-hook cannot change the data in place, only by saying so [S2-28]', async () => {
    const data = { text: 'x' };
    const edits: Hook = {
      id: 'edits',
      tools: '*',
      after: (_, seen) => {
        (seen as { text: string }).text = 'y';
        return { type: 'pass' };
      },
    };
    assert.deepEqual(await compileHooks([edits]).runAfter(view(), data), { type: 'pass' });
    assert.deepEqual(data, { text: 'x' });
  });

  test('a throwing after-hook withholds the result [S2-28]', async () => {
    const broken: Hook = {
      id: 'broken',
      tools: '*',
      after: () => {
        throw new TypeError('x');
      },
    };
    const outcome = await compileHooks([broken]).runAfter(view(), 'x');
    assert.ok(outcome.type === 'deny');
    assert.equal(outcome.error.details['kind'], 'hook_failure');
  });
});
