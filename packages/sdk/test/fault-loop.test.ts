import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { AstIndex } from '../src/contracts/ast.ts';
import type { StoredRecord } from '../src/contracts/journal.ts';
import { defineRule } from '../src/contracts/rule.ts';
import { createRecoveryLog, type RecoveryLog } from '../src/journal/recovery-log.ts';
import { allowAllPolicy } from '../src/policy/allow-all-policy.ts';
import { createFaults, type FaultPlan } from '../src/testing/faulty-parts.ts';
import { createCounter } from '../src/testing/probe-tools.ts';
import { openScratchRuntime } from '../src/testing/scratch-runtime.ts';

const ast: AstIndex = { covers: () => true, refresh: () => {}, parseProblems: () => [] };

const ALLOW = { verdict: 'allow', reason: 'fine' } as const;

const lookAfter = (verdict: 'pass' | 'block') =>
  defineRule({
    id: 'test.after',
    category: 'Test',
    description: 'Looks at every change',
    phase: 'after',
    trigger: 'a change',
    defaultEnforcement: 'blocking',
    always: true,
    appliesTo: () => true,
    check: () => (verdict === 'pass' ? [] : [{ message: 'not like this' }]),
  });

interface Run {
  readonly calls: readonly string[];
  readonly ok: boolean;
  readonly content: string;
  readonly heldLocks: number;
  readonly records: readonly StoredRecord[];
  readonly markers: number;
  readonly answers: number;
}

/** One governed write with a key, an AST, a budget, a coordinator and an "after" rule, under the given fault. */
async function runUnderFault(plan: FaultPlan, verdict: 'pass' | 'block'): Promise<Run> {
  const faults = createFaults(plan);
  let held = (): number => 0;
  let recovery: RecoveryLog | undefined;
  const scratch = await openScratchRuntime({
    ast,
    rules: [lookAfter(verdict)],
    policy: allowAllPolicy(),
    budget: { reserve: () => {}, spend: () => {} },
    coordinator: { evaluate: () => ALLOW, reserve: () => ALLOW, spend: () => {} },
    ports: {
      wrapParts(parts) {
        const wrapped = faults.wrap(parts);
        recovery = createRecoveryLog(wrapped.journal);
        held = () => parts.locks.held().length;
        return { ...wrapped, recovery };
      },
    },
  });
  const file = join(scratch.workspace, 'file.txt');
  writeFileSync(file, 'old');
  faults.armed = true;
  const response = await scratch.session.call(
    'file_write',
    { path: 'file.txt', content: 'new' },
    { idempotencyKey: 'k' },
  );
  faults.armed = false;
  const run: Run = {
    calls: faults.calls,
    ok: response.ok,
    content: readFileSync(file, 'utf8'),
    heldLocks: held(),
    records: [...scratch.runtime.records()],
    markers: recovery?.pending.length ?? 0,
    answers: 1,
  };
  assert.equal(scratch.runtime.verify().ok, true);
  await scratch.dispose();
  return run;
}

function checkInvariants(run: Run, at: string): void {
  const kinds = new Set(run.records.map((record) => record.kind));
  assert.equal(run.heldLocks, 0, `lock left: ${at}`);
  if (run.content !== 'old') assert.ok(kinds.has('intent'), `effect without intent: ${at}`);
  const isTold = kinds.has('result') || kinds.has('decision') || kinds.has('recovery') || run.markers > 0;
  assert.ok(isTold, `answer without a record or a marker: ${at}`);
  if (run.ok) assert.ok(kinds.has('result'), `success without a result on record: ${at}`);
  if (run.ok) assert.equal(run.content, 'new', `success without effect: ${at}`);
  const ended = kinds.has('result') || kinds.has('recovery') || run.markers > 0;
  if (kinds.has('intent')) assert.ok(ended, `intent left open in a living process: ${at}`);
}

describe('the fault loop [S1-37]', () => {
  for (const verdict of ['pass', 'block'] as const) {
    for (const mode of ['once', 'onwards'] as const) {
      test(`failing every port call in turn (${mode}, after-rule ${verdict}) leaves no lock, no unrecorded effect, no untold answer [S1-37]`, async () => {
        const reached = new Set<string>();
        for (let nth = 1; ; nth++) {
          const run = await runUnderFault({ nth, mode }, verdict);
          const isFaultFree = run.calls.length < nth;
          for (const call of run.calls) reached.add(call);
          checkInvariants(run, `${mode} ${nth} ${run.calls[nth - 1]}`);
          if (isFaultFree) {
            assert.equal(run.ok, verdict === 'pass');
            assert.equal(run.content, verdict === 'pass' ? 'new' : 'old');
            break;
          }
        }
        for (const port of [
          'journal.claim',
          'journal.settle',
          'locks.acquire',
          'workspace.writeFile',
          'ast.refresh',
          'budget.reserve',
          'policy.evaluatePreTool',
          'coordinator.evaluate',
          'coordinator.reserve',
        ]) {
          assert.ok(reached.has(port), `the loop never reached ${port}`);
        }
      });
    }
  }
});

describe('a journal that fails', () => {
  test('section 6.17: when the intent cannot be written the tool does not start, E_INTERNAL, retry class repair [S1-37]', async () => {
    const plan = { nth: Number.POSITIVE_INFINITY, mode: 'onwards' } as const;
    const faults = createFaults(plan);
    const scratch = await openScratchRuntime({
      ports: {
        wrapParts: (parts) => ({
          ...faults.wrap(parts),
          journal: {
            ...parts.journal,
            append: (records) => {
              if (records.some((record) => record.kind === 'intent')) throw new TypeError('disk full');
              return parts.journal.append(records);
            },
          },
        }),
      },
    });
    const response = await scratch.session.call('file_write', { path: 'a', content: 'x' });
    assert.equal(response.ok, false);
    assert.equal(response.errors[0]?.code, 'E_INTERNAL');
    assert.throws(() => readFileSync(join(scratch.workspace, 'a')));
    assert.deepEqual(
      [...scratch.runtime.records()].map((record) => record.kind),
      ['session', 'requested', 'decision'],
    );
    await scratch.dispose();
  });

  test('after a result that could not be recorded, unsafe effects are refused until the marker is written [S1-37]', async () => {
    let broken = false;
    const { tool, runs } = createCounter();
    const scratch = await openScratchRuntime({
      tools: [tool],
      ports: {
        wrapParts(parts) {
          const journal = {
            ...parts.journal,
            append: (records: Parameters<typeof parts.journal.append>[0]) => {
              if (broken && !records.some((record) => record.kind === 'intent')) throw new TypeError('disk full');
              return parts.journal.append(records);
            },
          };
          return { ...parts, journal, recovery: createRecoveryLog(journal) };
        },
      },
    });
    broken = true;
    const lost = await scratch.session.call('file_write', { path: 'a', content: 'x' });
    assert.equal(lost.errors[0]?.details?.['reason'], 'recovery_required');
    assert.equal((await scratch.session.call('probe_count', {})).errors[0]?.details?.['gate'], 'recovery');
    assert.equal(runs.count, 0);
    broken = false;
    const read = await scratch.session.call('file_read', { path: 'a' });
    assert.equal(read.ok, true, 'a read is allowed and carries the marker along');
    const kinds = [...scratch.runtime.records()].map((record) => record.kind);
    assert.ok(kinds.includes('recovery'));
    assert.equal((await scratch.session.call('probe_count', {})).ok, true);
    await scratch.dispose();
  });
});
