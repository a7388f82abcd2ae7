/** shell_exec: plain commands joined by &&, ||, ; and |, checked one by one, run in the sandbox, without a shell. */
import { stripVTControlCharacters } from 'node:util';
import { type ErrorEntry, type JsonObject, ToolError, toToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import type { CapturedStream, CommandOutcome, RunningCommand } from '../../contracts/commands.ts';
import type { JobArtifacts } from '../../contracts/jobs.ts';
import { defineTool, type ToolContext } from '../../contracts/tool.ts';
import { callText, type ToolText } from '../../contracts/tool-text.ts';
import { outputText } from '../../present/output-text.ts';
import { OutputKeeper } from './output/output-keeper.ts';
import { OutputReporter } from './output/output-reporter.ts';

const TIMEOUT_DEFAULT = 600_000;
const TIMEOUT_MAX = 3_600_000;
const STREAM_BYTES = 5 * 1024 * 1024;

const args = z
  .strictObject({
    cmd: z
      .string()
      .min(1)
      .optional()
      .describe('Plain commands joined by &&, ||, ; or |; quotes allowed, nothing expanded'),
    argv: z.array(z.string()).min(1).optional().describe('One command as a list of arguments, instead of cmd'),
    cwd: z.string().min(1).default('.').describe('Folder to start in, relative to the workspace root'),
    timeout_ms: z
      .int()
      .min(1)
      .max(TIMEOUT_MAX)
      .default(TIMEOUT_DEFAULT)
      .describe(
        'The whole tree is killed after this, also when it has become a job; the registry may allow less (tools.shell_exec.max_timeout_ms)',
      ),
    env: z.record(z.string(), z.string()).default({}).describe('Variables on top of a clean environment'),
    stdin: z.string().nullable().default(null).describe('Text for standard input; default: empty'),
    allow_network: z
      .boolean()
      .default(false)
      .describe("Reach the registry's domains through the proxy; otherwise none"),
    yield_after_ms: z.int().min(0).max(TIMEOUT_MAX).optional().describe('Answer with a job when it still runs by then'),
  })
  .refine((given) => (given.cmd === undefined) !== (given.argv === undefined), 'Give either cmd or argv');

const data = z.strictObject({
  code: z.int().nullable().describe('Exit code as a shell reports it; null while a job runs'),
  stdout: z.string(),
  stderr: z.string(),
  stdout_bytes: z.int().describe('Bytes printed, also when the text is cut'),
  stderr_bytes: z.int(),
  truncated: z
    .boolean()
    .describe('A stream was longer than 5 MiB: its middle is left out here, the artifact has it all'),
  stdout_artifact: z.string().optional().describe('Handle for artifact_read'),
  stderr_artifact: z.string().optional(),
  network_enforced: z.boolean().describe('False when the isolation cannot keep the command off the network'),
  job: z.string().optional().describe('The command still runs; poll it with job_poll'),
});

type Args = z.output<typeof args>;

export const shellExec = defineTool({
  name: 'shell_exec',
  category: 'proc',
  title: 'Run command',
  summary: 'Run allowlisted commands inside the workspace sandbox',
  policyNotes: 'Every command must match shell_allow; no shell is started; isolation and network follow the registry',
  args,
  data,
  annotations: {
    kind: 'execute',
    side_effect_level: 'network',
    arg_schema: { path_params: ['cwd'], command_params: ['cmd', 'argv'], env_params: ['env'] },
    capabilities: { process: ['exec'] },
    emits_artifacts: true,
    result_readers: ['artifact_read', 'job_poll'],
  },
  leastLevel: 'process_exec',
  effect: 'process',
  writes: 'unknown',
  risk: 'high',
  profile: ({ allow_network }) => ({ side_effect_level: allow_network ? 'network' : 'process_exec' }),
  knownAs: {
    names: ['bash', 'shell', 'sh', 'terminal', 'runcommand', 'runshellcommand', 'executecommand'],
    args: { command: 'cmd', cmd: 'cmd', timeout: 'timeout_ms' },
  },
  rehearse: 'none',
  timeoutMs: TIMEOUT_DEFAULT,
  timeoutArg: 'timeout_ms',
  privateArgs: ['env', 'stdin'],
  measure: ({ stdout_bytes, stderr_bytes }) => stdout_bytes + stderr_bytes,
  hasLargeAnswers: true,
  present: presentOutput,
  run: runCommand,
});

async function runCommand(given: Args, context: ToolContext): Promise<z.output<typeof data>> {
  const keepers = { stdout: createKeeper(context), stderr: createKeeper(context) };
  const place = given.yield_after_ms === undefined ? undefined : context.jobs.reserve(context.limitMs);
  const life = endsWith(context.signal);
  const report = new OutputReporter(context, context.redact);
  const start = (): Promise<RunningCommand> =>
    context.commands.start({
      list: context.command ?? { pipelines: [] },
      cwd: given.cwd,
      env: given.env,
      stdin: given.stdin === null ? (given.yield_after_ms === undefined ? null : 'open') : Buffer.from(given.stdin),
      network: given.allow_network,
      maxOutputBytes: STREAM_BYTES,
      // Also for the job it may become: it runs on with the secrets of this call.
      filter: context.redactOutput,
      onOutput(stream, chunk) {
        keepers[stream].add(chunk);
        place?.feed(stream, chunk);
        report.add(stream, chunk);
      },
      signal: life.signal,
    });
  try {
    const running = await start();
    const outcome = await settledWithin(running, given.yield_after_ms);
    report.flush();
    if (outcome !== undefined || place === undefined || context.signal.aborted) {
      return answer(outcome ?? (await running.done), { keepers, context });
    }
    life.detach();
    running.toBackground();
    const command = context.redactCommand(given.cmd ?? given.argv ?? []);
    return jobStarted(place.adopt({ command, running, closeOutput: () => handlesOf(keepers) }), keepers);
  } catch (thrown) {
    for (const keeper of Object.values(keepers)) keeper.discard();
    throw thrown;
  } finally {
    place?.release();
  }
}

/** A signal that fires with the call's, until the command has become a job and goes on without it. */
function endsWith(signal: AbortSignal): { readonly signal: AbortSignal; detach(): void } {
  const own = new AbortController();
  const forward = (): void => own.abort(signal.reason);
  if (signal.aborted) forward();
  else signal.addEventListener('abort', forward, { once: true });
  return { signal: own.signal, detach: () => signal.removeEventListener('abort', forward) };
}

function createKeeper(context: ToolContext): OutputKeeper {
  return new OutputKeeper(context.artifacts, STREAM_BYTES);
}

/** Undefined: it still runs. */
async function settledWithin(
  running: RunningCommand,
  yieldAfterMs: number | undefined,
): Promise<CommandOutcome | undefined> {
  if (yieldAfterMs === undefined) return running.done;
  let timer: NodeJS.Timeout | undefined;
  const later = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), yieldAfterMs);
  });
  try {
    return await Promise.race([running.done, later]);
  } finally {
    clearTimeout(timer);
  }
}

interface Answering {
  readonly keepers: Readonly<Record<'stdout' | 'stderr', OutputKeeper>>;
  readonly context: ToolContext;
}

function answer(outcome: CommandOutcome, { keepers, context }: Answering): z.output<typeof data> {
  // Known secrets are masked in the stream already; guesses never change what a program printed.
  const text = (stream: CapturedStream): string => stripVTControlCharacters(stream.text);
  for (const name of outcome.quarantined ?? []) context.warn(quarantined(name));
  const kept = handlesOf(keepers);
  for (const { problem } of Object.values(keepers)) if (problem !== undefined) context.warn(notKept(problem));
  const printed = {
    stdout: text(outcome.stdout),
    stderr: text(outcome.stderr),
    stdout_bytes: outcome.stdout.totalBytes,
    stderr_bytes: outcome.stderr.totalBytes,
    truncated: outcome.stdout.truncated || outcome.stderr.truncated,
    ...(kept.stdout === undefined ? {} : { stdout_artifact: kept.stdout }),
    ...(kept.stderr === undefined ? {} : { stderr_artifact: kept.stderr }),
  };
  if (context.signal.aborted) throw stopped(context.signal, printed);
  if (outcome.signal !== null) throw diedBySignal(outcome.signal, printed);
  return { code: outcome.code, ...printed, network_enforced: outcome.networkEnforced };
}

function handlesOf({ stdout, stderr }: Answering['keepers']): JobArtifacts {
  const [out, err] = [stdout.finish(), stderr.finish()];
  return {
    ...(out === undefined ? {} : { stdout: out.handle }),
    ...(err === undefined ? {} : { stderr: err.handle }),
  };
}

/** The partial output travels in the details of the reason the pipeline gave. */
function stopped(signal: AbortSignal, printed: JsonObject): ToolError {
  const reason = toToolError(signal.reason);
  return new ToolError(reason.code, reason.message, { details: { ...reason.details, ...printed } });
}

function diedBySignal(signal: string, printed: JsonObject): ToolError {
  return new ToolError('E_SHELL', `Command was ended by a signal: ${signal}`, { details: { signal, ...printed } });
}

/** The command itself is not affected. */
function notKept(problem: unknown): ErrorEntry {
  const reason = (problem as NodeJS.ErrnoException).code ?? 'unknown';
  return {
    code: 'E_FILE_IO',
    message: `Long output could not be kept whole: ${reason}`,
    details: { reason, next: 'free disk space for the state folder; only what is in the answer was kept' },
  };
}

/** A protected name that a command made appear was moved aside before anything could use it. */
function quarantined(name: string): ErrorEntry {
  return {
    code: 'E_POLICY',
    message: `A protected name appeared while the command ran and was moved aside: ${name}`,
    path: name,
    details: { reason: 'quarantined', next: 'look at it, then delete or rename it yourself' },
  };
}

function jobStarted(job: string, keepers: Answering['keepers']): z.output<typeof data> {
  return {
    code: null,
    stdout: '',
    stderr: '',
    stdout_bytes: keepers.stdout.bytes,
    stderr_bytes: keepers.stderr.bytes,
    truncated: false,
    network_enforced: true,
    job,
  };
}

/** Further fields that say how it ended may be there. */
function presentOutput(outcome: z.output<typeof data>): ToolText {
  const { code, stdout, stderr, truncated, stdout_artifact, stderr_artifact, job, ...others } = outcome;
  const facts: Record<string, unknown> = others;
  const ended = ['signal', 'timed_out'].flatMap((name) => (facts[name] ? [`${name} ${String(facts[name])}`] : []));
  const state = job === undefined ? `exit ${code ?? 'unknown'}` : `still running: ${callText('job_poll', { job })}`;
  const head = [state, ...ended, ...(truncated ? ['the middle of the output is left out'] : [])].join(', ');
  return outputText({
    head: stdout === '' && stderr === '' && job === undefined ? `${head}, no output` : head,
    stdout,
    stderr,
    stdoutArtifact: stdout_artifact,
    stderrArtifact: stderr_artifact,
    rest: 'run it again with its output filtered, such as | tail -n 200',
  });
}
