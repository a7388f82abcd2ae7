/**
 * The wrapper: one run of an external tool, from the folder that records it to the answer.
 *
 * The folder comes first, so that every attempt leaves a result, also one that is refused. The tool runs as a sealed
 * copy in the sandbox; what it says about itself afterwards counts only as far as it can be checked.
 */
import { constants } from 'node:os';
import { toToolError } from '@tool-runtime/protocol';
import type { CapturedStream } from '../../contracts/commands.ts';
import type { ExternalToolSettings } from '../../contracts/external.ts';
import type { ToolContext } from '../../contracts/tool.ts';
import { OutputCapture, OutputKeeper } from '../../platform/processes/output-capture.ts';
import { proxyVariables, runEnvironment } from '../protocol/tool-environment.ts';
import { concludeRun, type EndedRun, type RunData, refusedRun } from './conclude-run.ts';
import type { ExternalPorts } from './external-ports.ts';
import { prepareRun, type ReadyRun, type RunArgs } from './prepare-run.ts';
import { ProgressLines } from './progress-lines.ts';
import { RunAttempt } from './run-attempt.ts';

export interface ExternalCall {
  readonly settings: ExternalToolSettings;
  readonly ports: ExternalPorts;
  readonly args: RunArgs;
  readonly context: ToolContext;
}

const STREAM_BYTES = 5 * 1024 * 1024;
/** What is longer is kept whole as an artifact: errors show less than the limit above. */
const INLINE_BYTES = 16 * 1024;

/** Throws what kept the tool from running, or from succeeding; either way the result is on disk. */
export async function runExternal({ settings, ports, args, context }: ExternalCall): Promise<RunData> {
  const call = { call_id: context.callId, session_id: context.sessionId };
  const attempt = new RunAttempt({ settings, ports, call, pack: args.pack, inputs: args.inputs });
  try {
    const ready = await prepareRun(attempt, args, context);
    try {
      announceUnpinned(attempt, context);
      const ended = await execute(attempt, ready, { args, context });
      return await concludeRun(attempt, ended, context);
    } finally {
      await ready.sealed.remove();
    }
  } catch (thrown) {
    throw attempt.isSettled ? thrown : await refusedRun(attempt, toToolError(thrown), context);
  } finally {
    attempt.close();
  }
}

async function execute(
  attempt: RunAttempt,
  ready: ReadyRun,
  { args, context }: Pick<ExternalCall, 'args' | 'context'>,
): Promise<EndedRun> {
  const { settings, ports, run, pack } = attempt;
  const { sealed, programs, ...files } = ready;
  const stdout = new ProgressLines(STREAM_BYTES, progressReporter(attempt, context));
  const stderr = new OutputCapture(STREAM_BYTES);
  const streams = { stdout, stderr };
  const keepers = {
    stdout: new OutputKeeper(context.artifacts, INLINE_BYTES),
    stderr: new OutputKeeper(context.artifacts, INLINE_BYTES),
  };
  const add = (name: keyof typeof streams, bytes: Uint8Array): void => {
    keepers[name].add(bytes);
    streams[name].add(bytes);
  };
  // Before anything is kept: where the middle is left out, a value could be cut in two.
  const count = { masked: 0 };
  const filters = { stdout: attempt.secrets.stream(count), stderr: attempt.secrets.stream(count) };
  const setting = { settings, host: ports.environment, wrapperVersion: ports.wrapperVersion };
  const facts = {
    ...files,
    runId: run.runId,
    runFolder: run.path,
    startedAt: attempt.startedAt,
    projectRoot: ports.root,
    ...(pack === undefined ? {} : { packPath: pack.path, packDigest: pack.digest }),
  };
  const running = programs.run({
    sealed,
    interpreter: settings.interpreter,
    args: [...settings.args, ...(pack === undefined ? [] : [pack.path]), ...(args.args ?? [])],
    runFolder: run.path,
    writable: settings.writable,
    network: settings.network,
    signal: context.signal,
    effects: context.effects,
    environment: (places, { enforcesNetwork }) => ({
      ...runEnvironment(setting, facts, places),
      // In the sandbox ours is the only way out; without one the host's own way is.
      ...(settings.network && !enforcesNetwork ? proxyVariables(ports.environment) : {}),
    }),
    onOutput: (stream, chunk) => add(stream, filters[stream].push(chunk)),
  });
  const end = await running.catch((thrown: unknown) => {
    for (const keeper of Object.values(keepers)) keeper.discard();
    throw thrown;
  });
  for (const name of ['stdout', 'stderr'] as const) add(name, filters[name].end());
  context.masked(count.masked);
  const exitCode = end.code ?? 128 + (constants.signals[end.signal as NodeJS.Signals] ?? 0);
  return {
    end,
    exitCode,
    stdout: shown(stdout.finish(), attempt),
    stderr: shown(stderr.finish(), attempt),
    artifacts: { stdout: keepers.stdout.finish()?.handle, stderr: keepers.stderr.finish()?.handle },
  };
}

function shown(stream: CapturedStream, { secrets }: RunAttempt): CapturedStream {
  return { ...stream, text: secrets.text(stream.text) };
}

function progressReporter(
  { secrets }: RunAttempt,
  context: ToolContext,
): ConstructorParameters<typeof ProgressLines>[1] {
  let last = 0;
  return ({ pct = last, message, data }) => {
    last = pct;
    context.progress(pct, secrets.text(message), secrets.json(data));
  };
}

function announceUnpinned({ pin, settings, run }: RunAttempt, context: ToolContext): void {
  if (pin !== undefined) return;
  context.warn({
    code: 'E_POLICY',
    message: `External tool ran without an entry in the lock: ${settings.name}`,
    details: { reason: 'unpinned_execution', run_id: run.runId, next: `tool-runtime lock ${settings.name}` },
  });
}
