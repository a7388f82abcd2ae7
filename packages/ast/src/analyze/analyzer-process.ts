/** One run of an analyzer through the command capability: no shell, no network, bounded time and output. */
import type { ToolContext } from '@tool-runtime/sdk';
import { analyzerCancelled, analyzerTimedOut, outputTooLarge } from './analyzer-failures.ts';
import { MAX_ANALYSIS_BYTES } from './read-json.ts';

export type Commands = ToolContext['commands'];

export interface ProcessPlan {
  readonly name: string;
  readonly argv: readonly string[];
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

export interface ProcessResult {
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** All of it. */
  readonly stdout: string;
  /** What is fit to show of both streams, errors first; its middle may be left out. */
  readonly shown: string;
  readonly networkEnforced: boolean;
}

/** For what is shown when a run fails; the standard output that is read is kept apart and whole. */
const SHOWN_BYTES = 64 * 1024;

/** Throws E_TIMEOUT, E_VALIDATION_FAIL for too much output, the signal's reason, and what the capability throws. */
export async function runAnalyzerProcess(commands: Commands, plan: ProcessPlan): Promise<ProcessResult> {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(analyzerTimedOut(plan.name, plan.timeoutMs)), plan.timeoutMs);
  const { signal } = plan;
  const cancel = (): void => {
    if (signal !== undefined) stop.abort(analyzerCancelled(plan.name, signal));
  };
  signal?.addEventListener('abort', cancel, { once: true });
  if (signal?.aborted === true) cancel();
  try {
    return await collect(commands, plan, stop);
  } catch (thrown) {
    // The reason for stopping it is the answer, not what the stopped process led to.
    throw stop.signal.aborted ? stop.signal.reason : thrown;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', cancel);
  }
}

async function collect(commands: Commands, { name, argv }: ProcessPlan, stop: AbortController): Promise<ProcessResult> {
  stop.signal.throwIfAborted();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const running = await commands.start({
    list: { pipelines: [{ operator: null, commands: [{ argv, column: 1 }] }] },
    cwd: '.',
    env: {},
    stdin: null,
    network: false,
    maxOutputBytes: SHOWN_BYTES,
    onOutput(stream, chunk) {
      if (stream !== 'stdout' || stop.signal.aborted) return;
      bytes += chunk.length;
      if (bytes > MAX_ANALYSIS_BYTES) stop.abort(outputTooLarge(name));
      else chunks.push(chunk);
    },
    signal: stop.signal,
  });
  const { code, signal, stdout, stderr, networkEnforced } = await running.done;
  stop.signal.throwIfAborted();
  const shown = [stderr.text, stdout.text].filter((text) => text.trim() !== '').join('\n');
  return { exitCode: code, signal, stdout: Buffer.concat(chunks).toString('utf8'), shown, networkEnforced };
}
