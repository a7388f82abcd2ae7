/**
 * How a run ends: the tool's file checked, the result written, its outputs kept as artifacts, the answer built.
 *
 * Values the tool was given are taken out of its result before anything looks at it.
 */
import { type JsonObject, type JsonValue, ToolError, toToolError } from '@tool-runtime/protocol';
import type { CapturedStream } from '../../contracts/commands.ts';
import type { RunEntry, RunFile, RunOutput, RunResult } from '../../contracts/external.ts';
import type { ToolContext } from '../../contracts/tool.ts';
import type { ExternalEnd } from '../../platform/commands/external-process.ts';
import { checkOutputPath, findOutputs, keepOutput } from '../../platform/runs/output-path.ts';
import { readRunFile, writeResultAtomic } from '../../platform/runs/run-result-file.ts';
import { effectsData, notRecorded } from '../../present/command-effects.ts';
import { EXTERNAL_LIMITS, RESULT_FILE, WRAPPER_EXIT } from '../protocol/protocol-constants.ts';
import { normalizeExitCode } from '../protocol/run-status.ts';
import { type AcceptedResult, scrubResult } from '../result/accept-result.ts';
import type { RunAttempt } from './run-attempt.ts';

/** A tool that ran; what it printed as it may be shown. */
export interface EndedRun {
  readonly end: ExternalEnd;
  /** As a shell would say it: 128 and the signal's number for one that was killed. */
  readonly exitCode: number;
  readonly stdout: CapturedStream;
  readonly stderr: CapturedStream;
  /** Handles of the whole streams, where they are long. */
  readonly artifacts: { readonly stdout: string | undefined; readonly stderr: string | undefined };
}

export interface KeptOutput extends RunOutput {
  /** Handle for artifact_read. */
  readonly artifact?: string;
}

export interface RunData {
  readonly run_id: string;
  /** Relative to the state folder. */
  readonly run_dir: string;
  readonly status: RunResult['status'];
  readonly exit_code: number;
  readonly tool_exit_code: number | null;
  readonly outputs: readonly KeptOutput[];
  readonly errors: readonly RunEntry[];
  readonly warnings: readonly RunEntry[];
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated: boolean;
  readonly stdout_artifact?: string;
  readonly stderr_artifact?: string;
  readonly run_digest: string;
  readonly network_enforced: boolean;
  readonly effects?: ReturnType<typeof effectsData>;
}

/** Kept inline in the details of an error, of each stream's end. */
const ERROR_TEXT = 16 * 1024;
/** Larger ones stay in the run folder only. */
const ARTIFACT_BYTES = 64 * 1024 * 1024;
const ALL_ARTIFACT_BYTES = 256 * 1024 * 1024;
const NO_OUTPUTS = () => Promise.reject(new TypeError('A tool that never ran has no outputs'));

/** A tool that ran: throws E_SHELL when it failed, and what stopped it when it was stopped. */
export async function concludeRun(attempt: RunAttempt, ended: EndedRun, context: ToolContext): Promise<RunData> {
  const { exitCode, toolExitCode } = normalizeExitCode(ended.exitCode);
  const accepted = await attempt.settle({
    exitCode,
    toolExitCode,
    errors: killedEntry(ended, context),
    warnings: await attempt.checkPack(context),
    file: cleanFile(attempt),
    checkOutput: (path) => checkOutputPath(attempt.run, path, { maxBytes: EXTERNAL_LIMITS.outputBytes }),
    findOutputs: () => findOutputs(attempt.run, EXTERNAL_LIMITS.outputs),
  });
  onRecord(attempt, accepted.result, context);
  announce(attempt, accepted, { ended, context });
  const data = await answerOf(attempt, accepted.result, { ended, context });
  if (isStopped(ended, context)) throw withDetails(toToolError(context.signal.reason), errorDetails(data));
  if (data.status !== 'failure') return data;
  const [first] = data.errors;
  const why = first === undefined ? `exit code ${data.tool_exit_code}` : first.message.slice(0, 300);
  throw new ToolError('E_SHELL', `External tool failed: ${attempt.settings.name} (${why})`, {
    details: { reason: 'tool_failed', ...errorDetails(data), next: 'look at errors and stderr; the run is on record' },
  });
}

/** One that never ran: writes the result and answers the error with the run's id in it. */
export async function refusedRun(attempt: RunAttempt, error: ToolError, context: ToolContext): Promise<ToolError> {
  const { run_code: code = 'COMPONENT_FAILED', exit_code: exit = WRAPPER_EXIT.run_failed } = error.details;
  const entry = { code: String(code), message: attempt.secrets.text(error.message), details: { code: error.code } };
  if (code === 'VERIFICATION_FAILED') {
    attempt.audit.push('verification_failure');
    const details = { reason: 'verification_failure', run_id: attempt.run.runId };
    context.warn({ code: 'E_POLICY', message: `Verification failed: ${attempt.settings.name}`, details });
  }
  const { result } = await attempt.settle({
    exitCode: Number(exit),
    toolExitCode: null,
    errors: [entry],
    warnings: [],
    // Missing, unless one that ran says it did not.
    file: readRunFile(attempt.run, RESULT_FILE, EXTERNAL_LIMITS.resultBytes),
    checkOutput: NO_OUTPUTS,
  });
  onRecord(attempt, result, context);
  const details = {
    run_id: result.run_id,
    run_dir: attempt.shownFolder,
    exit_code: Number(exit),
    status: result.status,
  };
  return withDetails(error, details);
}

/** The journal names the run and its digest, so that a result written anew later is found out. */
function onRecord(attempt: RunAttempt, result: AcceptedResult['result'], context: ToolContext): void {
  const { shownFolder: run_dir, resultDigest: result_digest } = attempt;
  const { run_id, run_digest = '', status, exit_code, tool_exit_code } = result;
  const { audit = [] } = result as unknown as JsonObject;
  context.record({
    run: { run_id, run_dir, run_digest, result_digest, status, exit_code, tool_exit_code, audit },
  });
}

function withDetails(error: ToolError, details: JsonObject): ToolError {
  const { path } = error;
  return new ToolError(error.code, error.message, {
    ...(path === undefined ? {} : { path }),
    details: { ...error.details, ...details },
    cause: error,
  });
}

function cleanFile({ run, secrets }: RunAttempt): RunFile {
  const file = readRunFile(run, RESULT_FILE, EXTERNAL_LIMITS.resultBytes);
  if (typeof file === 'string' || secrets.isEmpty) return file;
  const clean = scrubResult(file, secrets);
  if (clean === undefined) return file;
  writeResultAtomic(run, clean);
  return Buffer.from(clean);
}

/** By us; one that ended by itself just before is checked by how it ended. */
function isStopped({ end }: EndedRun, { signal }: ToolContext): boolean {
  return signal.aborted && end.code === null;
}

function killedEntry(ended: EndedRun, context: ToolContext): readonly RunEntry[] {
  const { end } = ended;
  if (isStopped(ended, context)) {
    const { code, message } = toToolError(context.signal.reason);
    return [{ code: 'COMPONENT_KILLED', message: `Tool was stopped: ${message}`, details: { code } }];
  }
  if (end.signal === null) return [];
  return [{ code: 'COMPONENT_KILLED', message: `Tool was ended by a signal: ${end.signal}` }];
}

interface Concluding {
  readonly ended: EndedRun;
  readonly context: ToolContext;
}

function announce(attempt: RunAttempt, { state, result }: AcceptedResult, { ended, context }: Concluding): void {
  for (const name of ended.end.quarantined) {
    const details = { reason: 'quarantined', next: 'look at it, then delete or rename it yourself' };
    const message = `A protected name appeared while the tool ran and was moved aside: ${name}`;
    context.warn({ code: 'E_POLICY', message, path: name, details });
  }
  if (ended.end.effectsProblem !== undefined) context.warn(notRecorded(ended.end.effectsProblem));
  if (state !== 'backfilled') return;
  const why = result.warnings.find(({ code }) => code.startsWith('RESULT_'))?.message ?? '';
  context.warn({
    code: 'E_SHELL',
    message: `Result of the tool was written for it: ${attempt.settings.name} (${why.slice(0, 200)})`,
    details: { reason: 'result_backfilled', run_id: result.run_id },
  });
}

async function answerOf(attempt: RunAttempt, result: RunResult, concluding: Concluding): Promise<RunData> {
  const { ended, context } = concluding;
  const clean = (text: string): string => context.redact(text);
  return {
    run_id: result.run_id,
    run_dir: attempt.shownFolder,
    status: result.status,
    exit_code: result.exit_code,
    tool_exit_code: result.tool_exit_code,
    outputs: await keepOutputs(attempt, result.outputs, context),
    errors: result.errors.map((entry) => shownEntry(entry, clean)),
    warnings: result.warnings.map((entry) => shownEntry(entry, clean)),
    stdout: clean(ended.stdout.text),
    stderr: clean(ended.stderr.text),
    truncated: ended.stdout.truncated || ended.stderr.truncated,
    ...(ended.artifacts.stdout === undefined ? {} : { stdout_artifact: ended.artifacts.stdout }),
    ...(ended.artifacts.stderr === undefined ? {} : { stderr_artifact: ended.artifacts.stderr }),
    run_digest: result.run_digest ?? '',
    network_enforced: ended.end.networkEnforced,
    ...(ended.end.effects === undefined ? {} : { effects: effectsData(ended.end.effects) }),
  };
}

function shownEntry({ code, message, path, details }: RunEntry, clean: (text: string) => string): RunEntry {
  const inside = details === undefined ? undefined : cleanJson(details, clean);
  return {
    code,
    message: clean(message),
    ...(path === undefined ? {} : { path: clean(path) }),
    ...(inside === undefined ? {} : { details: inside }),
  };
}

function cleanJson(value: JsonValue, clean: (text: string) => string): JsonValue {
  if (typeof value === 'string') return clean(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: JsonValue) => cleanJson(item, clean));
  const entries = Object.entries(value as JsonObject);
  return Object.fromEntries(entries.map(([key, inner]) => [key, cleanJson(inner, clean)]));
}

async function keepOutputs(
  { run, secrets }: RunAttempt,
  outputs: readonly RunOutput[],
  { artifacts, warn }: ToolContext,
): Promise<readonly KeptOutput[]> {
  let room = ALL_ARTIFACT_BYTES;
  const kept: KeptOutput[] = [];
  for (const { path, media_type, digest = '', bytes = 0 } of outputs) {
    const known = { path, media_type, digest, bytes };
    const fits = bytes <= ARTIFACT_BYTES && bytes <= room;
    const artifact = fits ? await keepOutput(run, { path, digest, artifacts, forbidden: secrets.forms }) : 'too_large';
    if (typeof artifact === 'string') {
      const details = { reason: `output_${artifact}`, run_id: run.runId };
      warn({ code: 'E_POLICY', message: `Output is not offered as an artifact: ${path}`, path, details });
      kept.push(known);
      continue;
    }
    room -= bytes;
    kept.push({ ...known, artifact: artifact.handle });
  }
  return kept;
}

function errorDetails({ stdout, stderr, outputs, errors, warnings, ...data }: RunData): JsonObject {
  return {
    ...data,
    errors,
    warnings,
    outputs,
    stdout: stdout.slice(-ERROR_TEXT),
    stderr: stderr.slice(-ERROR_TEXT),
  } as unknown as JsonObject;
}
