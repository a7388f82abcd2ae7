/** Child sessions through a real runtime: what they may not do, how they end, and what of it is on record. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import type { ApprovalRequest } from '../contracts/policy.ts';
import type { ChildToolPolicy } from '../package/child-tool-policy.ts';
import { createCounter, nothing, wait } from '../testing/probe-tools.ts';
import { openScratchRuntime } from '../testing/scratch-runtime.ts';
import type { ChildSession } from './child-session.ts';
import type { Session } from './session.ts';

const ALL: ChildToolPolicy = { type: 'inherit_allowlist' };
const registry = (text: string) => ({ text: `version: 1\n${text}`, file: 'host.yaml' });
const names = (session: Session) => session.tools().map(({ name }) => name);
const refusedWith = (reason: string) => (thrown: { code?: string; details?: Record<string, unknown> }) => {
  assert.equal(thrown.details?.['reason'], reason);
  return true;
};

describe('a child is bound to its own package [S3-45 S3-46]', () => {
  test('finding 1: by default it reads and cannot write, and the refusal says why [S3-46 S3-21]', async () => {
    const { session, workspace, dispose } = await openScratchRuntime();
    writeFileSync(join(workspace, 'a.txt'), 'text\n');
    const child = await session.openChild({ agentId: 'reviewer' });
    assert.equal((await child.call('file_read', { path: 'a.txt' })).ok, true);
    const refused = await child.call('file_write', { path: 'b.txt', content: 'x' });
    assert.equal(refused.ok, false);
    assert.equal(refused.errors[0]?.code, 'E_POLICY');
    assert.equal(refused.errors[0]?.details?.['reason'], 'stripped');
    assert.ok(child.manifest.stripped_capability_ids.includes('tool.file_write'));
    assert.ok(child.manifest.retained_capability_ids.includes('tool.file_read'));
    assert.equal((await session.call('file_write', { path: 'b.txt', content: 'x' })).ok, true, 'the parent still can');
    await dispose();
  });

  test('finding 2: its snapshot is built from the stripped package and nothing else [S3-45]', async () => {
    const { session, runtime, dispose } = await openScratchRuntime({ tools: [nothing, createCounter().tool] });
    const child = await session.openChild({ agentId: 'one', tools: ['probe_nothing'] });
    assert.deepEqual(
      child.snapshot.routes.map((route) => route.canonical_tool_name),
      ['probe_nothing'],
    );
    assert.equal(child.snapshot.runtime_package_fingerprint, child.fingerprint);
    assert.notEqual(child.fingerprint, session.snapshot.runtime_package_fingerprint);
    const opened = [...runtime.records({ kind: 'session' })].find(
      (record) => 'session_id' in record && record.session_id === child.id,
    );
    assert.equal(opened?.kind === 'session' && opened.package_fingerprint, child.fingerprint);
    assert.equal(opened?.kind === 'session' && opened.parent_session_id, session.id);
    await dispose();
  });

  test('no_tools leaves nothing, S3-23 a list leaves what it names, and a name the parent lacks is an error [S3-22]', async () => {
    const { session, dispose } = await openScratchRuntime({ tools: [nothing] });
    assert.deepEqual(names(await session.openChild({ agentId: 'none', tools: { type: 'no_tools' } })), []);
    assert.deepEqual(names(await session.openChild({ agentId: 'two', tools: ['grep', 'file_read'] })), [
      'file_read',
      'grep',
    ]);
    await assert.rejects(session.openChild({ agentId: 'x', tools: ['file_reed'] }), { code: 'E_VALIDATION_FAIL' });
    const child = await session.openChild({ agentId: 'narrow', tools: ['probe_nothing'] });
    await assert.rejects(child.openChild({ agentId: 'wider', tools: ['file_read'] }), { code: 'E_VALIDATION_FAIL' });
    await dispose();
  });

  test('what no chain of policies allows can ever be called [S3-46]', async () => {
    const { tool, runs } = createCounter();
    const { session, dispose } = await openScratchRuntime({
      tools: [nothing, tool],
      registry: registry('children: { max_children: 10000 }\n'),
    });
    const every = names(session);
    const policy = fc.oneof(
      fc.constant<ChildToolPolicy>(ALL),
      fc.constant<ChildToolPolicy>({ type: 'read_only' }),
      fc.constant<ChildToolPolicy>({ type: 'no_tools' }),
      fc.uniqueArray(fc.nat(1000), { maxLength: 12 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(policy, { minLength: 1, maxLength: 4 }), async (policies) => {
        const line: Session[] = [session];
        for (const [at, chosen] of policies.entries()) {
          const parent = line.at(-1) as Session;
          const own = names(parent);
          const tools = Array.isArray(chosen)
            ? [...new Set(chosen.map((n) => own[n % own.length]).filter((n) => n !== undefined))]
            : chosen;
          // Commands that keep artifacts need their reader, or the surface is refused as a whole.
          line.push(
            await parent.openChild({
              agentId: `a${at}`,
              tools:
                Array.isArray(tools) && own.includes('artifact_read')
                  ? [...new Set([...tools, 'artifact_read'])]
                  : tools,
            }),
          );
        }
        const allowed = line.map((member) => new Set(names(member)));
        for (let at = 1; at < line.length; at++) {
          const [above, here] = [allowed[at - 1] as Set<string>, allowed[at] as Set<string>];
          assert.ok([...here].every((name) => above.has(name)));
        }
        const youngest = line.at(-1) as Session;
        const before = runs.count;
        for (const name of every.filter((candidate) => !allowed.at(-1)?.has(candidate))) {
          const answer = await youngest.call(name, {});
          assert.equal(answer.ok, false);
          assert.equal(answer.errors[0]?.code, 'E_POLICY', name);
        }
        if (!allowed.at(-1)?.has('probe_count')) assert.equal(runs.count, before);
        for (const member of line.slice(1).reverse()) await member.close();
      }),
      { numRuns: 12 },
    );
    await dispose();
  });
});

describe('what is on record [S3-47]', () => {
  test('intent, start and handoff stand before the child can run; usage and result when it is over [S3-47]', async () => {
    const { session, runtime, dispose } = await openScratchRuntime({ tools: [nothing] });
    const child = await session.openChild({ agentId: 'reviewer' });
    await child.call('probe_nothing', {});
    await child.call('probe_missing', {});
    assert.deepEqual(await child.complete(), child.usage());
    assert.equal(child.usage().calls, 2);
    const of = [...runtime.records()].filter((record) => JSON.stringify(record).includes(child.id));
    const told = of.map((record) => ('event' in record ? `${record.kind}:${record.event}` : record.kind));
    assert.deepEqual(told, [
      ...['session:opened', 'intent', 'child:started', 'child:handoff'],
      ...['requested', 'decision', 'intent', 'result', 'requested', 'decision'],
      ...['result', 'child:usage', 'child:completed', 'session:closed'],
    ]);
    const started = of.find((record) => record.kind === 'child' && record.event === 'started');
    assert.deepEqual(
      started?.kind === 'child' && started.details['manifest'],
      JSON.parse(JSON.stringify(child.manifest)),
    );
    assert.equal(runtime.verify().ok, true);
    await dispose();
  });

  test('what is refused leaves no record, no held budget and no used-up place [S3-47 S3-29]', async () => {
    const { session, runtime, dispose } = await openScratchRuntime({
      tools: [nothing],
      registry: registry('budgets: { max_calls: 5 }\nchildren: { max_children: 1 }\n'),
    });
    const before = runtime.head();
    const bad = [
      { agentId: '' },
      { agentId: 'x', tools: ['nope'] },
      { agentId: 'x', handoff: { type: 'selected_refs', refs: [], policy_ref: { kind: 'context', id: 'p' } } },
      { agentId: 'x', route: { type: 'use_allowed_override', route_id: 'r', model_id: 'm' } },
      {
        agentId: 'x',
        capabilities: { tools: ['grep', 'not_there*'], side_effect_level: 'read_only' },
        folder: '../..',
      },
      { agentId: 'x', folder: 'missing' },
      { agentId: 'x', budget: { max_calls: 6 } },
      { agentId: 'x', depth: { maxDepth: 99 } },
      { agentId: 'x', depth: { maxChildren: 2 } },
      { agentId: 'x', heartbeatTimeoutMs: -1 },
    ] as const;
    for (const options of bad) await assert.rejects(session.openChild(options as never), /./, JSON.stringify(options));
    assert.deepEqual(runtime.head(), before);
    const child = await session.openChild({ agentId: 'x', budget: { max_calls: 5 } });
    assert.equal((await child.call('probe_nothing', {})).ok, true);
    await dispose();
  });

  test('a handoff passes what it names and nothing else; a whole history is audited [S3-10 S3-50]', async () => {
    const { session, runtime, dispose } = await openScratchRuntime({ tools: [nothing] });
    const policy = { kind: 'context', id: 'policy.handoff' } as const;
    const plain = await session.openChild({ agentId: 'plain' });
    assert.deepEqual(plain.handoff, { variant: 'none', refs: [], policy_refs: [] });
    const some = await session.openChild({
      agentId: 'some',
      handoff: { type: 'selected_refs', refs: [{ id: 'artifact:1' }], policy_ref: policy },
    });
    assert.deepEqual(some.handoff.refs, [{ id: 'artifact:1' }]);
    const head = runtime.head();
    const whole = await session.openChild({
      agentId: 'whole',
      handoff: { type: 'full_history_with_policy', policy_ref: policy, projection_audit_required: true },
    });
    assert.equal(whole.handoff.audit_ref, `journal:${head.seq}:${head.mac}`);
    const handed = [...runtime.records({ kind: 'child' })].filter(
      (record) => record.kind === 'child' && record.event === 'handoff',
    );
    assert.equal(
      handed.at(-1)?.kind === 'child' && handed.at(-1)?.kind && JSON.stringify(handed.at(-1)).includes(head.mac),
      true,
    );
    await dispose();
  });

  test('the parent hears what its child does, told apart from its own [S3-49]', async () => {
    const { session, dispose } = await openScratchRuntime({ tools: [wait] });
    const heard: string[] = [];
    session.listen(
      ({ message }) =>
        heard.push(`${message.event} ${String(message.data?.['child_event'] ?? message.data?.['event'] ?? '')}`),
      { events: 'progress' },
    );
    const child = await session.openChild({ agentId: 'waiter' });
    await child.call('probe_wait', { ms: 1 });
    await child.complete();
    assert.equal(heard[0], 'ChildChanged started');
    assert.equal(heard.at(-1), 'ChildChanged completed');
    assert.ok(heard.includes('ChildEvent TaskProgress'));
    await dispose();
  });
});

describe('what a child may [S3-48]', () => {
  test('its ceiling is what its parent has and what was asked; more is an error [S3-48 S2-24]', async () => {
    const { session, dispose } = await openScratchRuntime(
      { tools: [nothing, createCounter().tool] },
      { capabilities: { tools: ['probe_*', 'file_read'], side_effect_level: 'workspace_write' } },
    );
    const child = await session.openChild({
      agentId: 'a',
      tools: ALL,
      capabilities: { side_effect_level: 'read_only' },
    });
    assert.equal((await child.call('probe_nothing', {})).ok, true);
    const refused = await child.call('probe_count', {});
    assert.equal(refused.errors[0]?.code, 'E_POLICY');
    await assert.rejects(
      session.openChild({ agentId: 'b', tools: ALL, capabilities: { tools: ['grep'] } }),
      refusedWith('policy_overreach'),
    );
    const grown = await child.openChild({ agentId: 'c', tools: ALL, capabilities: { side_effect_level: 'network' } });
    assert.equal(grown.ceiling.side_effect_level, 'read_only');
    await dispose();
  });

  test('a registry can only narrow the parent’s [S3-48 S0-23]', async () => {
    const { session, dispose } = await openScratchRuntime({ tools: [nothing], registry: registry('') });
    const narrower = { text: 'version: 1\ntools: { file_read: { enabled: false } }\n', file: 'child.yaml' };
    const child = await session.openChild({ agentId: 'a', registry: narrower });
    assert.equal((await child.call('file_read', { path: 'x' })).errors[0]?.details?.['reason'], 'tool_disabled');
    const wider = { text: 'version: 1\nshell_allow: ["^ls$"]\n', file: 'child.yaml' };
    await assert.rejects(session.openChild({ agentId: 'b', registry: wider }), refusedWith('registry_overreach'));
    await dispose();
  });

  test('a yes for the parent’s session is not a yes for the child’s [S3-48]', async () => {
    const asked: string[] = [];
    const approvals = {
      ask: async (request: ApprovalRequest) => {
        asked.push(request.call.sessionId);
        return { answer: 'approved_for_session' as const, by: 'operator' };
      },
    };
    const { session, dispose } = await openScratchRuntime({
      tools: [createCounter().tool],
      approvals,
      registry: registry('approvals: { require_approval: ["probe_count"] }\n'),
    });
    await session.call('probe_count', {});
    await session.call('probe_count', {});
    assert.deepEqual(asked, [session.id]);
    const child = await session.openChild({ agentId: 'a', tools: ALL });
    await child.call('probe_count', {});
    assert.deepEqual(asked, [session.id, child.id]);
    await dispose();
  });

  test('keys of the parent give the child no answers [S3-48]', async () => {
    const { tool, runs } = createCounter();
    const { session, dispose } = await openScratchRuntime({ tools: [tool] });
    await session.call('probe_count', { n: 1 }, { idempotencyKey: 'k' });
    const child = await session.openChild({ agentId: 'local', tools: ALL });
    await child.call('probe_count', { n: 1 }, { idempotencyKey: 'k' });
    assert.equal(runs.count, 2);
    await dispose();
  });

  test('depth and number are used up, passed down and cannot be asked back [S3-28]', async () => {
    const { session, dispose } = await openScratchRuntime({
      tools: [nothing],
      registry: registry('recursion_limit: 2\nchildren: { max_children: 2 }\n'),
    });
    const child = await session.openChild({ agentId: 'a' });
    assert.deepEqual(child.depth, { current_depth: 1, max_depth: 2, max_children: 2 });
    const grandchild = await child.openChild({ agentId: 'b' });
    await assert.rejects(grandchild.openChild({ agentId: 'c' }), /Depth budget is used up/);
    await assert.rejects(child.openChild({ agentId: 'c', depth: { maxDepth: 1 } }), refusedWith('depth_overreach'));
    const last = await child.openChild({ agentId: 'd', depth: { maxDepth: 0 } });
    await last.complete();
    await assert.rejects(child.openChild({ agentId: 'e' }), /Child budget is used up/);
    const leaf = await session.openChild({ agentId: 'leaf', depth: { maxDepth: 0 } });
    await assert.rejects(leaf.openChild({ agentId: 'f' }), /Depth budget is used up/);
    await dispose();
  });

  test('two that open together are two [S3-28]', async () => {
    const { session, dispose } = await openScratchRuntime({
      tools: [nothing],
      registry: registry('children: { max_children: 1 }\n'),
    });
    const opened = await Promise.allSettled([session.openChild({ agentId: 'a' }), session.openChild({ agentId: 'b' })]);
    assert.deepEqual(opened.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    await dispose();
  });

  test('a share is a number from zero up [S3-28]', async () => {
    const { session, dispose } = await openScratchRuntime({ tools: [nothing] });
    for (const max_calls of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
      await assert.rejects(session.openChild({ agentId: 'a', budget: { max_calls } }), { code: 'E_VALIDATION_FAIL' });
    }
    await session.openChild({ agentId: 'a', budget: { max_calls: 0 } });
    await dispose();
  });

  test('a family never makes more calls than its eldest may [S3-28]', async () => {
    const { session, dispose } = await openScratchRuntime({
      tools: [nothing],
      registry: registry('budgets: { max_calls: 6 }\n'),
    });
    const child = await session.openChild({ agentId: 'a', budget: { max_calls: 4 } });
    const grandchild = await child.openChild({ agentId: 'b', budget: { max_calls: 3 } });
    const spend = async (from: Session) => {
      let made = 0;
      while ((await from.call('probe_nothing', {})).ok) made += 1;
      return made;
    };
    assert.deepEqual([await spend(session), await spend(child), await spend(grandchild)], [2, 1, 3]);
    await assert.rejects(
      session.openChild({ agentId: 'c', budget: { max_calls: 1 } }),
      refusedWith('budget_overreach'),
    );
    await dispose();
  });
});

describe('how a child ends [S3-49]', () => {
  test('a session does not end while a child is open, and does when it is over [S3-49]', async () => {
    const { session, dispose } = await openScratchRuntime({ tools: [nothing] });
    const child = await session.openChild({ agentId: 'a' });
    const grandchild = await child.openChild({ agentId: 'b' });
    await assert.rejects(session.close(), refusedWith('children_open'));
    await assert.rejects(child.complete(), refusedWith('children_open'));
    assert.equal((await session.call('probe_nothing', {})).ok, true, 'it is still open');
    await grandchild.complete();
    await child.complete();
    await assert.rejects(child.call('probe_nothing', {}), { code: 'E_POLICY' });
    await session.close();
    await dispose();
  });

  test('usage rolls up to the eldest, each call once [S3-49]', async () => {
    const { session, dispose } = await openScratchRuntime({ tools: [nothing] });
    const child = await session.openChild({ agentId: 'a' });
    const grandchild = await child.openChild({ agentId: 'b' });
    for (const member of [session, child, child, grandchild, grandchild, grandchild])
      await member.call('probe_nothing', {});
    assert.equal(session.usage().calls, 6);
    assert.equal((await grandchild.complete()).calls, 3);
    assert.equal((await child.complete()).calls, 5);
    assert.equal(session.usage().calls, 6);
    await dispose();
  });

  test('cancel stops what runs, also below, and says so first [S3-49]', async () => {
    const { session, runtime, dispose } = await openScratchRuntime({ tools: [wait] });
    const child = await session.openChild({ agentId: 'a' });
    const grandchild = await child.openChild({ agentId: 'b' });
    const running = grandchild.call('probe_wait', { ms: 60_000 });
    await pause(20);
    await child.cancel('no longer wanted');
    const answer = await running;
    assert.equal(answer.ok, false);
    assert.equal(answer.errors[0]?.details?.['reason'], 'cancelled');
    const told = [...runtime.records({ kind: 'child' })].filter(
      (record) => record.kind === 'child' && record.child_session_id === child.id,
    );
    assert.deepEqual(
      told.map((record) => record.kind === 'child' && record.event),
      ['started', 'handoff', 'cancelling', 'usage', 'cancelled'],
    );
    assert.deepEqual(session.children(), []);
    await session.close();
    await dispose();
  });

  test('closing with cancel ends children, save those that may be taken over [S3-49]', async () => {
    const { session, runtime, dispose } = await openScratchRuntime({ tools: [nothing] });
    const owned = await session.openChild({ agentId: 'owned' });
    const free = await session.openChild({ agentId: 'free', lifecycle: 'reclaimable' });
    assert.equal(free.manifest.lifecycle_policy_ref.id, 'policy.child.reclaimable');
    await session.close({ cancel: true });
    await assert.rejects(owned.call('probe_nothing', {}), { code: 'E_POLICY' });
    assert.equal((await free.call('probe_nothing', {})).ok, true);
    const told = [...runtime.records({ kind: 'child' })].map((record) => record.kind === 'child' && `${record.event}`);
    assert.ok(told.includes('reclaimed'));
    await dispose();
    await assert.rejects(free.call('probe_nothing', {}), { code: 'E_POLICY' });
  });

  test('a parent that expires takes its children along; the grandparent takes over what may live on [S3-49]', async () => {
    let now = 0;
    const clock = { now: () => 1_000 + now, monotonic: () => now };
    const { session, dispose } = await openScratchRuntime({ tools: [nothing], ports: { clock } });
    const parent = await session.openChild({ agentId: 'parent', heartbeatTimeoutMs: 100 });
    const owned = await parent.openChild({ agentId: 'owned' });
    const free = await parent.openChild({ agentId: 'free', lifecycle: 'reclaimable' });
    now = 200;
    await assert.rejects(parent.call('probe_nothing', {}), { message: 'Session is expired' });
    while (session.children().some(({ agentId }) => agentId === 'parent')) await pause(5);
    await assert.rejects(owned.call('probe_nothing', {}), { code: 'E_POLICY' });
    assert.deepEqual(
      session.children().map(({ agentId }) => agentId),
      ['free'],
    );
    assert.equal((await free.call('probe_nothing', {})).ok, true);
    await assert.rejects(session.close(), refusedWith('children_open'));
    await (session.children()[0] as ChildSession).complete();
    await session.close();
    await dispose();
  });

  test('detaching needs a lifecycle, an operator who allows it, and a new owner [S3-49]', async () => {
    const allowed = registry('children: { allow_detach: true }\n');
    const taken = {
      acknowledgedBy: 'operator',
      reclaim: { kind: 'runtime_package', id: 'policy.child.reclaimable' },
    } as const;
    const strict = await openScratchRuntime({ tools: [nothing] });
    const denied = await strict.session.openChild({ agentId: 'a', lifecycle: 'reclaimable' });
    await assert.rejects(denied.detach(taken), refusedWith('detach_denied'));
    await strict.dispose();
    const { session, dispose } = await openScratchRuntime({ tools: [nothing], registry: allowed });
    const owned = await session.openChild({ agentId: 'b' });
    await assert.rejects(owned.detach(taken), refusedWith('parent_owned'));
    await owned.complete();
    const child = await session.openChild({ agentId: 'c', lifecycle: 'reclaimable' });
    await assert.rejects(child.detach({ ...taken, acknowledgedBy: '' }), { code: 'E_VALIDATION_FAIL' });
    await assert.rejects(child.detach({ ...taken, reclaim: { kind: 'host', id: 'x' } }), { code: 'E_VALIDATION_FAIL' });
    await child.detach(taken);
    await assert.rejects(child.cancel('too late'), refusedWith('detached'));
    await session.close();
    assert.equal((await child.call('probe_nothing', {})).ok, true);
    await dispose();
  });
});

describe('a child on a folder [S0-14 S3-48]', () => {
  async function openFolder() {
    const scratch = await openScratchRuntime({
      registry: registry('shell_allow: ["^cat(\\\\s|$)", "^ls(\\\\s|$)"]\n'),
    });
    const { workspace } = scratch;
    mkdirSync(join(workspace, 'inner/deep'), { recursive: true });
    writeFileSync(join(workspace, 'secret.txt'), 'outside\n');
    writeFileSync(join(workspace, 'inner/a.txt'), 'inside\n');
    symlinkSync('../secret.txt', join(workspace, 'inner/link'));
    symlinkSync(join(workspace, 'secret.txt'), join(workspace, 'inner/absolute'));
    return scratch;
  }

  test('sees its folder as the whole workspace and nothing beside it [S0-14]', async () => {
    const { session, dispose } = await openFolder();
    const child = await session.openChild({ agentId: 'a', tools: ALL, folder: 'inner' });
    assert.equal((await child.call('file_read', { path: 'a.txt' })).ok, true);
    for (const path of ['../secret.txt', 'link', 'absolute', 'deep/../../secret.txt', '/etc/passwd']) {
      const answer = await child.call('file_read', { path });
      assert.equal(answer.errors[0]?.code, 'E_POLICY', path);
    }
    const listed = await child.call('fs_list', { glob: '**' });
    assert.deepEqual(
      (listed.data as { files: string[] }).files.filter((file) => file.includes('secret')),
      [],
    );
    assert.deepEqual(
      (await child.call('grep', { pattern: 'outside' })).data,
      (await child.call('grep', { pattern: 'outside' })).data,
    );
    assert.equal(JSON.stringify((await child.call('grep', { pattern: 'outside' })).data).includes('"snippet"'), false);
    const grandchild = await child.openChild({ agentId: 'b', tools: ALL, folder: 'deep' });
    assert.equal((await grandchild.call('file_read', { path: '../a.txt' })).errors[0]?.code, 'E_POLICY');
    await assert.rejects(child.openChild({ agentId: 'c', folder: '..' }), { code: 'E_POLICY' });
    for (const folder of ['missing', 'inner/missing', 'a.txt']) {
      await assert.rejects(child.openChild({ agentId: 'c', folder }), { code: 'E_VALIDATION_FAIL', path: 'folder' });
    }
    await dispose();
  });

  test('has the protection of its own repository, and none of its commands or children reaches into it', async () => {
    const scratch = await openScratchRuntime({ registry: registry('shell_allow: ["^touch( |$)"]\n') });
    const { session, workspace, dispose } = scratch;
    mkdirSync(join(workspace, 'inner/store/hooks'), { recursive: true });
    writeFileSync(join(workspace, 'inner/.git'), 'gitdir: store\n');
    const child = await session.openChild({ agentId: 'a', tools: ALL, folder: 'inner' });
    const refused = await child.call('file_write', { path: 'store/hooks/post-commit', content: 'x' });
    assert.equal(refused.errors[0]?.details?.['reason'], 'governing_file', JSON.stringify(refused));
    await child.call('shell_exec', { cmd: 'touch store/hooks/made' });
    assert.deepEqual(readdirSync(join(workspace, 'inner/store/hooks')), []);
    await assert.rejects(child.openChild({ agentId: 'b', folder: 'store/hooks' }), { code: 'E_POLICY' });
    assert.ok((await child.call('file_write', { path: 'beside.txt', content: 'x' })).ok);
    await child.call('shell_exec', { cmd: 'touch made' });
    assert.ok(readdirSync(join(workspace, 'inner')).includes('made'));
    await dispose();
  });

  test('its commands are confined to the folder [S0-36]', async () => {
    const { session, workspace, dispose } = await openFolder();
    const child = await session.openChild({ agentId: 'a', tools: ALL, folder: 'inner' });
    const inside = await child.call('shell_exec', { cmd: 'cat a.txt' });
    assert.equal((inside.data as { stdout: string }).stdout, 'inside\n');
    const outside = await child.call('shell_exec', { cmd: `cat ${join(workspace, 'secret.txt')}` });
    assert.equal(JSON.stringify(outside).includes('outside\\n'), false);
    const control = await session.call('shell_exec', { cmd: 'cat secret.txt' });
    assert.equal((control.data as { stdout: string }).stdout, 'outside\n');
    await dispose();
  });

  test('writes land in the folder, and locks are the parent’s too [S3-48]', async () => {
    const { session, workspace, dispose } = await openFolder();
    const child = await session.openChild({ agentId: 'a', tools: ALL, capabilities: { workspace_roots: ['inner'] } });
    assert.equal((await child.call('file_write', { path: 'new.txt', content: 'x' })).ok, true);
    assert.equal(readFileSync(join(workspace, 'inner/new.txt'), 'utf8'), 'x');
    const writes = Array.from({ length: 20 }, (_, at) => [
      session.call('file_write', { path: 'inner/new.txt', content: `p${at}` }),
      child.call('file_write', { path: 'new.txt', content: `c${at}` }),
    ]).flat();
    assert.ok((await Promise.all(writes)).every(({ ok }) => ok));
    await assert.rejects(session.openChild({ agentId: 'b', capabilities: { workspace_roots: ['inner', 'other'] } }), {
      code: 'E_VALIDATION_FAIL',
    });
    await dispose();
  });

  test('a session of its own can be given a folder too [S2-24]', async () => {
    const { runtime, dispose } = await openFolder();
    const session = await runtime.openSession({ capabilities: { workspace_roots: ['inner'] } });
    assert.equal((await session.call('file_read', { path: 'a.txt' })).ok, true);
    assert.equal((await session.call('file_read', { path: '../secret.txt' })).errors[0]?.code, 'E_POLICY');
    await assert.rejects(runtime.openSession({ capabilities: { workspace_roots: ['../..'] } }), { code: 'E_POLICY' });
    await dispose();
  });
});

test('an event of a child never passes for one of a call of the parent, though both have the same id [S3-49 S0-10]', async () => {
  const { session, dispose } = await openScratchRuntime({ tools: [wait] });
  const heard: { event: string; request_id: string; of: unknown }[] = [];
  session.listen(
    ({ message: { event, request_id, data } }) => heard.push({ event, request_id, of: data?.['child_request_id'] }),
    { events: 'progress' },
  );
  const child = await session.openChild({ agentId: 'a' });
  await child.call('probe_wait', { ms: 1 }, { requestId: 'r1' });
  const own = heard.filter(({ request_id }) => request_id === 'r1');
  assert.deepEqual(own, []);
  const told = heard.filter(({ event }) => event === 'ChildEvent');
  assert.ok(told.length > 0 && told.every(({ request_id, of }) => request_id === child.id && of === 'r1'));
  await session.call('probe_wait', { ms: 1 }, { requestId: 'r1' });
  assert.ok(heard.some(({ event, request_id }) => event === 'TaskProgress' && request_id === 'r1'));
  await dispose();
});
