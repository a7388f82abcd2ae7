/**
 * What a run did, as one digest: equal for runs that used the same tool on the same things with the same outcome.
 *
 * Times, ids, identity and messages stay out, because they differ from run to run.
 */
import type { RunOutput, RunResult } from '../../contracts/external.ts';
import { canonicalJson, digest } from '../../platform/digest.ts';

export type DigestedRun = Pick<RunResult, 'tool' | 'inputs' | 'pack_digest' | 'outputs' | 'status'>;

/** Outputs count by path and digest, in any order. */
export function runDigest(result: DigestedRun): string {
  return digest(
    canonicalJson({
      tool: { name: result.tool.name, version: result.tool.version },
      inputs: result.inputs,
      pack_digest: result.pack_digest || null,
      outputs: result.outputs.map(named).sort(byName),
      status: result.status,
    }),
  );
}

type NamedDigest = readonly [path: string, digest: string | null];

function named(output: RunOutput): NamedDigest {
  return [output.path, output.digest || null];
}

function byName(a: NamedDigest, b: NamedDigest): number {
  const [left, right] = [JSON.stringify(a), JSON.stringify(b)];
  return left < right ? -1 : Number(left > right);
}
