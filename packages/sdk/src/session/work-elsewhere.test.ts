/** A child whose calls another runtime makes: what that one allows, what is counted where, and how both ends meet. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import fc from 'fast-check';
import type { ChildToolPolicy } from '../package/child-tool-policy.ts';
import { createCounter, nothing } from '../testing/probe-tools.ts';
import { openScratchRuntime } from '../testing/scratch-runtime.ts';
import type { ChildGrant } from './child-grant.ts';
import type { ChildOptions, ChildSession } from './child-session.ts';
import type { Session } from './session.ts';
import { WorkElsewhere, type WorkReport } from './work-elsewhere.ts';

const ALL: ChildToolPolicy = { type: 'inherit_allowlist' };
const HOLDER = 'holder';
const registry = (text: string) => ({ text: `version: 1\n${text}`, file: 'host.yaml' });
const refusedWith = (reason: string) => (thrown: { details?: Record<string, unknown> }) => {
  assert.equal(thrown.details?.['reason'], reason);
  return true;
};
const used = (calls: number): WorkReport => ({
  usage: { calls, errors: 0, bytes: 0, duration_ms: 0 },
  spent: { max_calls: calls },
});

type Scratch = Awaited<ReturnType<typeof openScratchRuntime>>;
type Given = Parameters<typeof openScratchRuntime>[0];

async function openPair(t: TestContext, first: Given = {}, second: Given = {}) {
  const [a, b] = [await openScratchRuntime(first), await openScratchRuntime(second)];
  t.after(async () => {
    // No host reports any more, and a runtime waits for its children to end.
    for (const { elsewhere } of a.session.children()) elsewhere?.lose();
    await Promise.all([a.dispose(), b.dispose()]);
  });
  return { a, b };
}

function elsewhereOf({ elsewhere }: Session): WorkElsewhere {
  assert.ok(elsewhere !== undefined);
  return elsewhere;
}

/** The grant as it arrives on another machine. */
async function grantOf(child: Session): Promise<ChildGrant> {
  return JSON.parse(JSON.stringify(await elsewhereOf(child).take(HOLDER, 'b')));
}

async function openThere(a: Scratch, b: Scratch, options: Partial<ChildOptions> = {}) {
  const child = await a.session.openChild({ agentId: 'reviewer', workspace: 'docs', ...options });
  return { child, there: await b.runtime.openSession({ actor: 'anyone', under: await grantOf(child) }) };
}

const names = (session: Session): string[] => session.tools().map(({ name }) => name);

describe('what a child may do on another host', () => {
  test('it reads there and does not write; its parent there may', async (t) => {
    const { a, b } = await openPair(t);
    writeFileSync(join(b.workspace, 'a.txt'), 'there\n');
    const { there } = await openThere(a, b);
    const read = await there.call('file_read', { path: 'a.txt' });
    assert.equal(read.ok, true);
    const refused = await there.call('file_write', { path: 'b.txt', content: 'x' });
    assert.equal(refused.errors[0]?.details?.['reason'], 'stripped');
    assert.equal((await b.session.call('file_write', { path: 'b.txt', content: 'x' })).ok, true);
  });

  test('here it makes no calls and has no children', async (t) => {
    const { a, b } = await openPair(t);
    const { child } = await openThere(a, b, { tools: ALL });
    const refused = await child.call('file_read', { path: 'a.txt' });
    assert.equal(refused.errors[0]?.details?.['reason'], 'works_elsewhere');
    await assert.rejects(child.openChild({ agentId: 'x' }), refusedWith('works_elsewhere'));
  });

  test('neither registry is exceeded, whichever is narrower', async (t) => {
    const wide = registry('recursion_limit: 4\nshell: { mode: sandboxed }\n');
    const narrow = registry('allowed_tools: [file_read, file_write]\ntools: { file_write: { enabled: false } }\n');
    for (const [first, second] of [
      [wide, narrow],
      [narrow, wide],
    ] as const) {
      const { a, b } = await openPair(t, { registry: first }, { registry: second });
      const { there } = await openThere(a, b, { tools: ALL });
      assert.deepEqual(names(there), ['file_read']);
    }
    const { a, b } = await openPair(t, { registry: wide }, { registry: wide });
    const { there } = await openThere(a, b, { tools: ALL });
    assert.ok(names(there).includes('shell_exec') && names(there).includes('file_write'));
  });

  test('what a registry says beyond its tools goes along', async (t) => {
    const sandboxed = registry('shell: { mode: sandboxed }\n');
    const { a, b } = await openPair(t, { registry: registry('shell_allow: ["^true$"]\n') }, { registry: sandboxed });
    const { there } = await openThere(a, b, { tools: ALL });
    assert.equal((await there.call('shell_exec', { cmd: 'true' })).ok, true);
    assert.equal((await there.call('shell_exec', { cmd: 'id' })).errors[0]?.code, 'E_POLICY');
    assert.equal((await b.session.call('shell_exec', { cmd: 'id' })).ok, true);
  });

  test('the ceilings of session and child go along', async (t) => {
    const deep = { tools: [nothing], registry: registry('recursion_limit: 3\n') };
    const { a, b } = await openPair(t, deep, { tools: [nothing] });
    const parent = await a.session.openChild({
      agentId: 'between',
      tools: ALL,
      capabilities: { tool_arg_constraints: [{ tool: 'file_read', arg_key: 'path', arg_patterns: ['open/**'] }] },
    });
    const child = await parent.openChild({
      agentId: 'one',
      tools: ALL,
      workspace: 'docs',
      capabilities: { side_effect_level: 'read_only' },
    });
    for (const folder of ['open', 'shut']) {
      mkdirSync(join(b.workspace, folder));
      writeFileSync(join(b.workspace, folder, 'a.txt'), 'x\n');
    }
    const there = await b.runtime.openSession({ under: await grantOf(child) });
    assert.equal(there.ceiling.side_effect_level, 'read_only');
    assert.equal((await there.call('file_read', { path: 'open/a.txt' })).ok, true);
    assert.equal((await there.call('file_read', { path: 'shut/a.txt' })).errors[0]?.code, 'E_POLICY');
    elsewhereOf(child).lose();
  });

  test('its folder is a folder of the other workspace', async (t) => {
    const { a, b } = await openPair(t);
    mkdirSync(join(b.workspace, 'only-there'));
    writeFileSync(join(b.workspace, 'only-there/a.txt'), 'x\n');
    const { there } = await openThere(a, b, { folder: 'only-there' });
    assert.equal((await there.call('file_read', { path: 'a.txt' })).ok, true);
    const outside = await there.call('file_read', { path: '../only-there/a.txt' });
    assert.equal(outside.ok, false);
  });

  test('tools it was given by name must be there and take the same arguments; others are left out', async (t) => {
    const { tool } = createCounter();
    const { a, b } = await openPair(t, { tools: [tool, nothing] }, { tools: [nothing] });
    await assert.rejects(openThere(a, b, { tools: ['file_read', 'probe_count'] }), refusedWith('package_mismatch'));
    const { there } = await openThere(a, b, { tools: ['file_read', 'probe_nothing'] });
    assert.deepEqual(names(there).toSorted(), ['file_read', 'probe_nothing']);
    const changed = { ...nothing, argsJsonSchema: { type: 'object', properties: { other: { type: 'string' } } } };
    const other = await openScratchRuntime({ tools: [changed] });
    t.after(() => other.dispose());
    const inherited = await openThere(a, other, { tools: ALL });
    const refused = await inherited.there.call('probe_nothing', {});
    assert.equal(refused.errors[0]?.details?.['reason'], 'package_mismatch');
  });

  test('a package that is not the one of the fingerprint is refused, and so is a grant that says more', async (t) => {
    const { a, b } = await openPair(t);
    const child = await a.session.openChild({ agentId: 'one', workspace: 'docs' });
    const grant = await grantOf(child);
    const write = a.session.snapshot.findByName('file_write');
    assert.ok(write !== undefined);
    const [some] = grant.package.capabilities;
    assert.ok(some !== undefined);
    const capabilities = [...grant.package.capabilities, { ...some, capability_id: write.capability_id }];
    const forged = { ...grant, package: { ...grant.package, capabilities } };
    await assert.rejects(b.runtime.openSession({ under: forged }), refusedWith('package_mismatch'));
    const more = { ...grant, approvals: 'all' } as ChildGrant;
    await assert.rejects(b.runtime.openSession({ under: more }), { code: 'E_VALIDATION_FAIL' });
    await assert.rejects(b.runtime.openSession({ under: { ...grant, registries: [] } }), { code: 'E_VALIDATION_FAIL' });
    const session = await b.runtime.openSession({ under: grant });
    assert.ok(names(session).includes('file_read'));
  });

  test('a session that is confined to a folder has no children in other workspaces, not even in its own', async (t) => {
    const { a } = await openPair(t);
    mkdirSync(join(a.workspace, 'billing'));
    const confined = await a.session.openChild({ agentId: 'confined', folder: 'billing' });
    for (const workspace of ['docs', 'shop']) {
      await assert.rejects(confined.openChild({ agentId: 'out', workspace }), refusedWith('folder_bound'));
    }
    const free = await a.session.openChild({ agentId: 'free' });
    assert.ok((await free.openChild({ agentId: 'out', workspace: 'docs' })).elsewhere);
  });

  test('what it does is as durable as on the host of its parent, also when an option there says so', async (t) => {
    const { a, b } = await openPair(t, { durability: 'full' });
    await assert.rejects(openThere(a, b), refusedWith('durability_not_offered'));
    const durable = await openScratchRuntime({ durability: 'full' });
    t.after(() => durable.dispose());
    await openThere(a, durable);
    await openThere(durable, a);
    for (const { elsewhere } of durable.session.children()) elsewhere?.lose();
  });

  test('it may go as deep as both hosts let it', async (t) => {
    const depths = fc.record({ here: fc.integer({ min: 1, max: 4 }), there: fc.integer({ min: 0, max: 4 }) });
    const property = fc.asyncProperty(depths, async ({ here, there }) => {
      const { a, b } = await openPair(
        t,
        { registry: registry(`recursion_limit: ${here}\n`) },
        { registry: registry(`recursion_limit: ${there}\n`) },
      );
      let session: Session = (await openThere(a, b)).there;
      let levels = 0;
      try {
        for (;;) {
          session = await session.openChild({ agentId: 'below' });
          levels += 1;
        }
      } catch {
        assert.equal(levels, Math.min(here - 1, there));
      }
    });
    await fc.assert(property, { numRuns: 6 });
  });
});

describe('what it may use up', () => {
  test('its share is counted on both sides, and the rest comes back', async (t) => {
    const { tool } = createCounter();
    const { a, b } = await openPair(
      t,
      { tools: [tool], registry: registry('budgets: { max_calls: 10 }\n') },
      { tools: [tool] },
    );
    const { child, there } = await openThere(a, b, { tools: ALL, budget: { max_calls: 4 } });
    const answers = [];
    for (let at = 0; at < 6; at += 1) answers.push((await there.call('probe_count', { n: at })).ok);
    assert.deepEqual(answers, [true, true, true, true, false, false]);
    const work = elsewhereOf(child);
    work.report(HOLDER, used(3));
    work.report(HOLDER, used(2));
    assert.deepEqual([child.usage().calls, a.session.usage().calls], [3, 3]);
    work.finish(HOLDER, used(3), 'completed');
    await child.ended;
    let made = 0;
    while ((await a.session.call('probe_count', { n: made })).ok) made += 1;
    assert.equal(made, 7, 'ten, less three that were used there');
  });

  test('a limit of an ancestor is never shared: without a share of its own it is refused', async (t) => {
    const { a } = await openPair(t, { registry: registry('budgets: { max_calls: 10, max_bytes: 1000 }\n') });
    const open = (budget: object): Promise<ChildSession> =>
      a.session.openChild({ agentId: 'one', workspace: 'docs', budget });
    await assert.rejects(open({ max_calls: 1 }), refusedWith('budget_share_missing'));
    await open({ max_calls: 1, max_bytes: 10 });
  });

  test('nothing of its family goes on with its share when it has ended', async (t) => {
    const detaching = registry('recursion_limit: 5\nchildren: { allow_detach: true }\n');
    const { a, b } = await openPair(t, { registry: detaching }, { registry: detaching });
    const lasting = (session: Session) => session.openChild({ agentId: 'lasting', lifecycle: 'reclaimable' });
    const { there } = await openThere(a, b);
    await assert.rejects(lasting(there), /ends with its parent/);
    const below = await there.openChild({ agentId: 'below' });
    await assert.rejects(lasting(below), /ends with its parent/);
    assert.ok(await lasting(b.session));
  });

  test('a report that is no count is refused, and the limit holds', async (t) => {
    const { tool } = createCounter();
    const { a } = await openPair(t, { tools: [tool], registry: registry('budgets: { max_calls: 10 }\n') });
    const child = await a.session.openChild({ agentId: 'one', workspace: 'docs', budget: { max_calls: 4 } });
    const work = elsewhereOf(child);
    await work.take(HOLDER, 'b');
    for (const wrong of [Number.NaN, -1, Number.POSITIVE_INFINITY, Number.MAX_VALUE, '3', null]) {
      const count = wrong as number;
      assert.throws(() => work.report(HOLDER, used(count)), /no number from zero up/);
      assert.throws(() => work.report(HOLDER, { ...used(1), spent: { max_calls: count } }), /no number from zero up/);
    }
    work.finish(HOLDER, used(2), 'completed');
    await child.ended;
    let made = 0;
    while (made < 20 && (await a.session.call('probe_count', { n: made })).ok) made += 1;
    assert.equal(made, 8);
    assert.equal(child.usage().calls, 2);
  });

  test('of a host that is lost, the whole share counts as used', async (t) => {
    const { tool } = createCounter();
    const { a } = await openPair(t, { tools: [tool], registry: registry('budgets: { max_calls: 10 }\n') });
    const child = await a.session.openChild({ agentId: 'one', workspace: 'docs', budget: { max_calls: 4 } });
    const work = elsewhereOf(child);
    await work.take(HOLDER, 'b');
    work.report(HOLDER, used(1));
    work.lose();
    await child.ended;
    let made = 0;
    while ((await a.session.call('probe_count', { n: made })).ok) made += 1;
    assert.equal(made, 6);
    const events = [...a.runtime.records({ kind: 'child' })].flatMap((record) =>
      record.kind === 'child' && record.child_session_id === child.id ? [record.event] : [],
    );
    assert.deepEqual(events, ['started', 'handoff', 'taken', 'cancelling', 'usage', 'cancelled']);
  });
});

describe('how it ends', () => {
  test('one host takes it, and only that one comes back and reports', async (t) => {
    const { a } = await openPair(t);
    const child = await a.session.openChild({ agentId: 'one', workspace: 'docs' });
    const work = elsewhereOf(child);
    const grant = await work.take(HOLDER, 'b');
    assert.deepEqual(await work.take(HOLDER, 'b'), grant);
    await assert.rejects(work.take('another', 'c'), refusedWith('child_taken'));
    assert.throws(() => work.report('another', used(1)), refusedWith('session_closed'));
    work.finish(HOLDER, used(1), 'completed');
    assert.throws(() => work.report(HOLDER, used(2)), refusedWith('session_closed'));
    await assert.rejects(work.take(HOLDER, 'b'), refusedWith('session_closed'));
  });

  test('a holder that could not be put on record has not taken it', async (t) => {
    const { a } = await openPair(t);
    const { elsewhere } = await a.session.openChild({ agentId: 'one', workspace: 'docs' });
    assert.ok(elsewhere !== undefined);
    const grant = await elsewhere.take(HOLDER, 'b');
    const full = Promise.withResolvers<void>();
    const records = [() => full.promise, () => Promise.resolve(), () => full.promise];
    const setting = { workspace: 'docs', grant, onSpent() {}, onLost() {} };
    const work = new WorkElsewhere({ ...setting, onTaken: () => records.shift()?.() ?? assert.fail('once too often') });
    const idle = new WorkElsewhere({ ...setting, onTaken: () => full.promise });
    const taking = [work.take(HOLDER, 'b'), idle.take(HOLDER, 'b')];
    // Asked for while it was not known yet whether the host has it.
    idle.cancel();
    full.reject(new Error('disk full'));
    for (const one of taking) await assert.rejects(one, /disk full/);
    assert.equal(await idle.over, 'cancelled');
    assert.deepEqual(await work.take('another', 'c'), grant);
    elsewhere.lose();
  });

  test('the parent asks for the end and waits for the last report', async (t) => {
    const { a } = await openPair(t);
    for (const [end, asked, how] of [
      [(child: ChildSession) => child.complete(), 'end', 'completed'],
      [(child: ChildSession) => child.cancel('enough'), 'cancel', 'cancelled'],
      [(child: ChildSession) => child.close({ cancel: true }), 'cancel', 'cancelled'],
    ] as const) {
      const child = await a.session.openChild({ agentId: 'one', workspace: 'docs' });
      const work = elsewhereOf(child);
      await work.take(HOLDER, 'b');
      const heard: string[] = [];
      const whenAsked = new Promise<void>((resolve) => {
        work.listen((what) => {
          heard.push(what);
          resolve();
        });
      });
      const ending = end(child);
      await whenAsked;
      work.finish(HOLDER, used(5), how);
      await ending;
      assert.deepEqual(heard, [asked]);
      assert.equal(child.usage().calls, 5);
    }
    assert.equal(a.session.usage().calls, 15);
  });

  test('one that no host took ends at once, and a parent that ends takes its children along', async (t) => {
    const { a } = await openPair(t);
    const idle = await a.session.openChild({ agentId: 'idle', workspace: 'docs' });
    assert.equal((await idle.complete()).calls, 0);
    const parent = await a.runtime.openSession();
    const child = await parent.openChild({ agentId: 'one', workspace: 'docs' });
    const work = elsewhereOf(child);
    await work.take(HOLDER, 'b');
    work.listen(() => work.finish(HOLDER, used(2), 'cancelled'));
    await parent.close({ cancel: true });
    assert.equal(await child.ended, 'closed');
  });

  test('it belongs to its parent', async (t) => {
    const { a } = await openPair(t);
    const lasting = a.session.openChild({ agentId: 'one', workspace: 'docs', lifecycle: 'reclaimable' });
    await assert.rejects(lasting, /ends with its parent/);
  });

  test('both journals name the child, the package and each other', async (t) => {
    const { a, b } = await openPair(t);
    const { child, there } = await openThere(a, b);
    const opened = [...b.runtime.records({ kind: 'session' })].find(
      (record) => record.kind === 'session' && record.session_id === there.id,
    );
    assert.ok(opened?.kind === 'session');
    assert.equal(opened.actor, 'local/reviewer');
    assert.equal(opened.parent_session_id, child.id);
    assert.equal(opened.granted_fingerprint, child.fingerprint);
    const taken = [...a.runtime.records({ kind: 'child' })].find(
      (record) => record.kind === 'child' && record.event === 'taken',
    );
    assert.ok(taken?.kind === 'child');
    assert.deepEqual([taken.child_session_id, taken.details], [child.id, { host: 'b' }]);
  });
});
