/** Runs cases against one server, one after the other, and says of each whether it passed, failed or does not apply. */
import type { Case, Need } from './cases/case.ts';
import { Violation } from './cases/case.ts';
import * as catalog from './cases/catalog.ts';
import type { Profile } from './profile/profile.ts';
import { DoesNotApply } from './scene/processes.ts';
import { type Effort, Scene, type Target } from './scene/scene.ts';
import { ServerGone } from './server/line-process.ts';

export const CASES: readonly Case[] = Object.values(catalog).flat();

export type Outcome = 'passed' | 'failed' | 'not applicable';

export interface CaseResult {
  readonly id: string;
  readonly outcome: Outcome;
  /** What was found, or why it does not apply. */
  readonly detail?: string;
}

export interface SuiteResult {
  readonly server: string;
  readonly protocol: Target['protocol'];
  readonly command: string;
  readonly passed: number;
  readonly failed: number;
  readonly notApplicable: number;
  readonly results: readonly CaseResult[];
}

export interface SuiteOptions {
  readonly cases?: readonly Case[];
  readonly effort?: Effort;
  report?(result: CaseResult): void;
}

/** Rejects with ServerGone if the server does not start at all. */
export async function runSuite(
  target: Target,
  { cases = CASES, effort, report }: SuiteOptions = {},
): Promise<SuiteResult> {
  const scene = new Scene(target, effort);
  const results: CaseResult[] = [];
  try {
    await scene.server();
    for (const one of cases) {
      const result = await runCase(scene, one, results);
      results.push(result);
      report?.(result);
    }
  } finally {
    await scene.remove();
  }
  const count = (outcome: Outcome): number => results.filter((result) => result.outcome === outcome).length;
  return {
    server: target.profile.name,
    protocol: target.protocol,
    command: target.command,
    passed: count('passed'),
    failed: count('failed'),
    notApplicable: count('not applicable'),
    results,
  };
}

async function runCase(
  scene: Scene,
  { id, needs, after = [], twin, attack }: Case,
  past: readonly CaseResult[],
): Promise<CaseResult> {
  const missing = needs.find((need) => !isMet(need, scene.target.profile));
  if (missing !== undefined) return { id, outcome: 'not applicable', detail: `needs ${missing}` };
  const failed = past.find((result) => result.outcome === 'failed' && after.includes(result.id));
  if (failed !== undefined)
    return { id, outcome: 'not applicable', detail: `goes further than ${failed.id}, which failed` };
  try {
    await scene.reset();
    await twin(scene);
  } catch (cause) {
    return await failure(scene, id, cause, 'its twin must succeed: ');
  }
  try {
    await scene.reset();
    await attack(scene);
    return { id, outcome: 'passed' };
  } catch (cause) {
    return await failure(scene, id, cause, '');
  }
}

/** Another kind of error is a mistake of the suite and is thrown. */
async function failure(scene: Scene, id: string, cause: unknown, prefix: string): Promise<CaseResult> {
  if (cause instanceof DoesNotApply) return { id, outcome: 'not applicable', detail: cause.message };
  if (!(cause instanceof Violation || cause instanceof ServerGone)) throw cause;
  // The server may be gone or stuck; the next case starts another one.
  await scene.kill();
  return { id, outcome: 'failed', detail: `${prefix}${cause.message}` };
}

function isMet(need: Need, { tools, idempotency, journal }: Profile): boolean {
  switch (need) {
    case 'program sh':
      return tools.run?.programs.includes('sh') === true;
    case 'program sleep':
      return tools.run?.programs.includes('sleep') === true;
    case 'commands that end with their answer':
      return tools.run?.keeps_running === false;
    case 'idempotency':
      return idempotency !== undefined;
    case 'durable idempotency':
      return idempotency?.durable === true;
    case 'journal':
      return journal !== undefined;
    default:
      return tools[need] !== undefined;
  }
}
