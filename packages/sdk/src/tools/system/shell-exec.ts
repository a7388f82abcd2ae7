/** shell_exec: plain commands without a shell (strict mode) or a script for bash (sandboxed mode), run in the sandbox. */
import { type ErrorEntry, type JsonObject, ToolError, toToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import { type CommandOutcome, EFFECTS_MODES, type RunningCommand } from '../../contracts/commands.ts';
import type { JobArtifacts, JobNews, StreamNews } from '../../contracts/jobs.ts';
import type { ByteFilter } from '../../contracts/redaction.ts';
import { defineTool, type ToolContext } from '../../contracts/tool.ts';
import { callText, type ToolText } from '../../contracts/tool-text.ts';
import { OutputKeeper } from '../../platform/processes/output-capture.ts';
import { commandEffects, effectsData, effectsText, notRecorded } from '../../present/command-effects.ts';
import { outputText } from '../../present/output-text.ts';
import { describeCommands } from '../../shell/describe-commands.ts';
import { OutputReporter } from './output-reporter.ts';

const TIMEOUT_DEFAULT = 600_000;
const TIMEOUT_MAX = 3_600_000;
const STREAM_BYTES = 5 * 1024 * 1024;
/** What is longer is kept as an artifact as well: others cut answers far below the limit above. */
const INLINE_BYTES = 16 * 1024;

const args = z
  .strictObject({
    cmd: z.string().min(1).optional().describe('Command line'),
    argv: z.array(z.string()).min(1).optional().describe('Instead of cmd'),
    cwd: z.string().min(1).default('.').describe('Folder to start in'),
    timeout_ms: z
      .int()
      .min(1)
      .max(TIMEOUT_MAX)
      .default(TIMEOUT_DEFAULT)
      .describe('Ends all its processes; the registry may allow less'),
    env: z.record(z.string(), z.string()).default({}).describe('Added to a clean environment'),
    stdin: z.string().nullable().default(null).describe('Standard input'),
    allow_network: z.boolean().default(false).describe("Reach the registry's domains"),
    yield_after_ms: z.int().min(0).max(TIMEOUT_MAX).optional().describe('Answer with a job if it still runs then'),
    effects: z.enum(EFFECTS_MODES).optional().describe('preview: keep file changes for change_apply'),
    keep: z.boolean().optional().describe('Let the job outlive this session, until timeout_ms'),
  })
  .refine((given) => (given.cmd === undefined) !== (given.argv === undefined), 'Give either cmd or argv')
  .refine((given) => !given.keep || given.yield_after_ms !== undefined, 'keep needs yield_after_ms');

const gap = z.strictObject({
  from: z.int().describe('Offset of the first byte left out'),
  bytes: z.int(),
  lines: z.int().describe('Line breaks among them'),
});

const data = z.strictObject({
  code: z.int().nullable().describe('Exit code; null while a job runs'),
  signal: z
    .string()
    .nullable()
    .describe(
      'Null here: a command that a signal ended fails with E_SHELL and names it. An exit code of 128 + n counts as signal n where that one kills or crashes (137 is SIGKILL); others, such as 130, stay codes',
    ),
  timed_out: z.boolean().describe('False here: a command over its time fails with E_TIMEOUT and what it printed'),
  stdout: z.string().describe('As printed, escape sequences included; bytes that are no UTF-8 become U+FFFD'),
  stderr: z.string(),
  stdout_bytes: z.int().describe('Bytes printed, also when the text is cut'),
  stderr_bytes: z.int(),
  truncated: z
    .boolean()
    .describe(
      'A stream was longer than 5 MiB, of a job longer than 256 KiB: a part is left out here, the artifact has it all',
    ),
  stdout_left_out: gap.optional().describe('What is left out of stdout, exactly'),
  stderr_left_out: gap.optional(),
  stdout_artifact: z
    .string()
    .optional()
    .describe('Handle of the whole stream for artifact_read, from 16 KiB on; also while a job runs'),
  stderr_artifact: z.string().optional(),
  network_enforced: z.boolean().describe('False when the isolation cannot keep the command off the network'),
  effects: commandEffects.optional().describe('What it changed in the workspace; only when it ran on an overlay'),
  job: z.string().optional().describe('The command still runs; job_poll continues exactly after this output'),
});

type Args = z.output<typeof args>;

export const shellExec = defineTool({
  name: 'shell_exec',
  category: 'proc',
  title: 'Run command',
  summary: 'Run commands inside the workspace sandbox',
  policyNotes:
    'Strict mode: every command must match shell_allow, and no shell is started. Sandboxed mode: bash runs the line; shell_deny, shell_ask and shell_allow apply to the commands that can be seen in it. Isolation and network follow the registry',
  notesFor: describeCommands,
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
  const place =
    given.yield_after_ms === undefined
      ? undefined
      : context.jobs.reserve({ lifeMs: context.limitMs, keep: given.keep === true });
  const life = endsWith(context.signal);
  const report = new OutputReporter(context);
  const filters: ByteFilter[] = [];
  const start = (): Promise<RunningCommand> =>
    context.commands.start({
      list: context.command ?? { pipelines: [] },
      cwd: given.cwd,
      env: given.env,
      stdin: given.stdin === null ? (given.yield_after_ms === undefined ? null : 'open') : Buffer.from(given.stdin),
      network: given.allow_network,
      mayStay: place !== undefined,
      ...(given.effects === undefined ? {} : { effects: given.effects }),
      maxOutputBytes: STREAM_BYTES,
      // Also for the job it may become: it runs on with the secrets of this call.
      filter: () => noted(context.redactOutput(), filters),
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
    const job = place.adopt({
      command,
      running,
      artifacts: () => openHandles(keepers),
      masked: () => filters.reduce((sum, { masked }) => sum + masked, 0),
      closeOutput: () => handlesOf(keepers),
    });
    return jobStarted(await context.jobs.poll(job, { waitMs: 0 }, context.signal));
  } catch (thrown) {
    report.close();
    for (const keeper of Object.values(keepers)) keeper.discard();
    throw thrown;
  } finally {
    place?.release();
  }
}

function noted(filter: ByteFilter, filters: ByteFilter[]): ByteFilter {
  filters.push(filter);
  return filter;
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
  return new OutputKeeper(context.artifacts, INLINE_BYTES);
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
  for (const name of outcome.quarantined ?? []) context.warn(quarantined(name));
  for (const hint of outcome.hints ?? []) context.warn(hint);
  if (outcome.effectsProblem !== undefined) context.warn(notRecorded(outcome.effectsProblem));
  const kept = handlesOf(keepers);
  for (const { problem } of Object.values(keepers)) if (problem !== undefined) context.warn(notKept(problem));
  const { stdout, stderr } = outcome;
  const printed = {
    stdout: stdout.text,
    stderr: stderr.text,
    stdout_bytes: stdout.totalBytes,
    stderr_bytes: stderr.totalBytes,
    truncated: stdout.truncated || stderr.truncated,
    ...(stdout.gap === undefined ? {} : { stdout_left_out: { ...stdout.gap } }),
    ...(stderr.gap === undefined ? {} : { stderr_left_out: { ...stderr.gap } }),
    ...(kept.stdout === undefined ? {} : { stdout_artifact: kept.stdout }),
    ...(kept.stderr === undefined ? {} : { stderr_artifact: kept.stderr }),
  };
  if (context.signal.aborted) throw stopped(context.signal, printed);
  if (outcome.signal !== null) throw diedBySignal(outcome.signal, printed);
  return {
    ...{ code: outcome.code, signal: null, timed_out: false, ...printed, network_enforced: outcome.networkEnforced },
    ...(outcome.effects === undefined ? {} : { effects: effectsData(outcome.effects) }),
  };
}

function openHandles({ stdout, stderr }: Answering['keepers']): JobArtifacts {
  return {
    ...(stdout.handle === undefined ? {} : { stdout: stdout.handle }),
    ...(stderr.handle === undefined ? {} : { stderr: stderr.handle }),
  };
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
  const timed_out = reason.code === 'E_TIMEOUT';
  const details = { ...reason.details, code: null, signal: 'SIGKILL', timed_out, ...printed };
  return new ToolError(reason.code, reason.message, { details });
}

function diedBySignal(signal: string, printed: JsonObject): ToolError {
  return new ToolError('E_SHELL', `Command was ended by a signal: ${signal}`, {
    details: { code: null, signal, timed_out: false, ...printed },
  });
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

/** Its output so far; job_poll goes on where it ends. */
function jobStarted({ id, stdout, stderr, artifacts }: JobNews): z.output<typeof data> {
  return {
    code: null,
    signal: null,
    timed_out: false,
    stdout: stdout.text,
    stderr: stderr.text,
    stdout_bytes: stdout.to,
    stderr_bytes: stderr.to,
    truncated: stdout.missedBytes + stderr.missedBytes > 0,
    ...(stdout.missedBytes === 0 ? {} : { stdout_left_out: missedGap(stdout) }),
    ...(stderr.missedBytes === 0 ? {} : { stderr_left_out: missedGap(stderr) }),
    ...(artifacts.stdout === undefined ? {} : { stdout_artifact: artifacts.stdout }),
    ...(artifacts.stderr === undefined ? {} : { stderr_artifact: artifacts.stderr }),
    network_enforced: true,
    job: id,
  };
}

function missedGap({ from, missedBytes, missedLines }: StreamNews): z.output<typeof gap> {
  return { from: from - missedBytes, bytes: missedBytes, lines: missedLines };
}

function presentOutput(outcome: z.output<typeof data>): ToolText {
  const { code, stdout, stderr, stdout_artifact, stderr_artifact, job } = outcome;
  const state = job === undefined ? `exit ${code ?? 'unknown'}` : `still running: ${callText('job_poll', { job })}`;
  const head = [
    state,
    ...leftOut('stdout', outcome.stdout_left_out),
    ...leftOut('stderr', outcome.stderr_left_out),
  ].join(', ');
  const printed = outputText({
    head: stdout === '' && stderr === '' && job === undefined ? `${head}, no output` : head,
    stdout,
    stderr,
    stdoutArtifact: stdout_artifact,
    stderrArtifact: stderr_artifact,
    rest: 'run it again with its output filtered, such as | tail -n 200',
  });
  return outcome.effects === undefined ? printed : effectsText(outcome.effects, printed);
}

function leftOut(name: string, missing: z.output<typeof gap> | undefined): readonly string[] {
  if (missing === undefined) return [];
  return [`${missing.bytes} bytes (${missing.lines} lines) of ${name} left out after byte ${missing.from}`];
}
