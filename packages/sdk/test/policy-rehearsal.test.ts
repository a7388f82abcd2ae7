/** What rehearsals promise, compared with calls that are really made. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@tool-runtime/protocol';
import fc from 'fast-check';
import { applyEdits } from '../src/rehearsal/registry-edits.ts';
import { anyCall, anyRegistry, createScene, type MadeUpCall, makeCalls } from './policy-rehearsal.ts';

const yes = async () => ({ answer: 'approved', by: 'test' }) as const;

async function simulationAgrees(a: JsonObject, b: JsonObject, calls: readonly MadeUpCall[]): Promise<void> {
  using scene = createScene();
  const [first, second] = [await scene.open(a), await scene.open(b)];
  try {
    fc.pre(first !== undefined && second !== undefined);
    const before = await makeCalls(first, calls);
    const simulated = await first.policy.simulate({ registry: { file: 'b.yaml', text: JSON.stringify(b) } });
    const after = await makeCalls(second, calls);
    const expected = new Map<string, number>();
    for (const [at, { tool }] of calls.entries()) {
      if (before[at] === after[at]) continue;
      const key = `${tool} ${before[at]} ${after[at]}`;
      expected.set(key, (expected.get(key) ?? 0) + 1);
    }
    const found = simulated.groups.map(({ tool, from, to, count }) => [`${tool} ${from} ${to}`, count] as const);
    assert.deepEqual(simulated.not_judged, []);
    assert.equal(simulated.judged, calls.length);
    assert.deepEqual(new Map(found.toSorted()), new Map([...expected].toSorted()));
    assert.equal(
      simulated.changed,
      [...expected.values()].reduce((sum, count) => sum + count, 0),
    );
  } finally {
    await first?.close();
    await second?.close();
  }
}

async function explanationAgrees(registry: JsonObject, call: MadeUpCall): Promise<void> {
  using scene = createScene();
  const runtime = await scene.open(registry);
  fc.pre(runtime !== undefined);
  try {
    const explanation = await runtime.policy.explain(call);
    assert.deepEqual(await makeCalls(runtime, [call]), [explanation.decision]);
    const { change } = explanation;
    if (change === null) return;
    assert.notEqual(change.decision, explanation.decision);
    const changed = await scene.open(applyEdits(registry, change.edits));
    assert.ok(changed !== undefined, 'the changed registry loads');
    const said = await makeCalls(changed, [call]);
    await changed.close();
    assert.deepEqual(said, [change.decision], change.text);
  } finally {
    await runtime.close();
  }
}

/** Calls that differ from the given ones in what a registry can limit. */
function neighbours(calls: readonly MadeUpCall[]): readonly MadeUpCall[] {
  const known = new Set(calls.map((call) => JSON.stringify(call)));
  const used = new Set(calls.map(({ tool }) => tool));
  const mutated = calls.flatMap(({ tool, args }): MadeUpCall[] => {
    const { path, cmd } = args;
    if (typeof cmd === 'string') return [{ tool, args: { ...args, cmd: `${cmd} other` } }];
    // A list of a folder speaks about everything in it.
    if (typeof path !== 'string' || tool === 'fs_list') return [];
    return [
      { tool, args: { ...args, path: `${path}x` } },
      { tool, args: { ...args, path: `else/${path}` } },
    ];
  });
  const others = ['file_write', 'fs_delete', 'file_read', 'grep']
    .filter((tool) => !used.has(tool))
    .map((tool) => ({ tool, args: { path: 'a.md', content: '', pattern: 'x' } }));
  return [...mutated, ...others].filter((call) => !known.has(JSON.stringify(call)));
}

async function suggestionHolds(registry: JsonObject, calls: readonly MadeUpCall[]): Promise<void> {
  using scene = createScene();
  const runtime = await scene.open(registry, { approvals: yes });
  fc.pre(runtime !== undefined);
  try {
    const session = await runtime.openSession();
    const allowed: MadeUpCall[] = [];
    for (const call of calls) {
      const { seq } = runtime.head();
      await session.call(call.tool, call.args);
      const decisions = [...runtime.records({ after: seq })].filter(({ kind }) => kind === 'decision');
      const last = decisions.at(-1);
      if (last?.kind === 'decision' && last.outcome === 'allow') allowed.push(call);
    }
    await session.close();
    const { registry: text, left_out, calls: made } = await runtime.policy.suggest();
    assert.deepEqual(left_out, []);
    assert.equal(made, allowed.length);
    const narrow = await scene.open(text);
    assert.ok(narrow !== undefined, text);
    const said = await makeCalls(narrow, allowed);
    const others = neighbours(allowed);
    const refused = await makeCalls(narrow, others);
    await narrow.close();
    for (const [at, call] of allowed.entries()) assert.equal(said[at], 'allow', `${JSON.stringify(call)}\n${text}`);
    for (const [at, call] of others.entries()) assert.equal(refused[at], 'deny', `${JSON.stringify(call)}\n${text}`);
  } finally {
    await runtime.close();
  }
}

const calls = fc.array(anyCall, { minLength: 1, maxLength: 6 });

for (const [title, numRuns] of [
  ['', 1],
  [' in many cases (deep)', 120],
] as const) {
  test(`simulate agrees with the same calls made under the other registry${title}`, () =>
    fc.assert(fc.asyncProperty(anyRegistry, anyRegistry, calls, simulationAgrees), { numRuns, endOnFailure: true }));

  test(`explain agrees with the call, and its change turns the answer${title}`, () =>
    fc.assert(fc.asyncProperty(anyRegistry, anyCall, explanationAgrees), { numRuns, endOnFailure: true }));

  test(`suggest allows what it was made from and refuses its neighbours${title}`, () =>
    fc.assert(fc.asyncProperty(anyRegistry, calls, suggestionHolds), { numRuns, endOnFailure: true }));
}
