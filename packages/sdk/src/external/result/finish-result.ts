/** The last step of every result, however the run ended: who and where, then the digest over what is now final. */
import type { RunResult } from '../../contracts/external.ts';
import type { RunEnvironment } from './detect-ci.ts';
import { enrichResult, type Runner } from './enrich-result.ts';
import { runDigest } from './run-digest.ts';

export type FinishResult = <Result extends RunResult>(result: Result) => Result;

/** `env` is the wrapper's own environment, not the one the tool was given. */
export function createFinish(env: RunEnvironment, runner: Runner): FinishResult {
  return (result) => {
    const { result: enriched } = enrichResult(result, env, runner);
    return { ...enriched, run_digest: runDigest(enriched) };
  };
}
