/**
 * Runs analyzers in the workspace and answers their findings in one form.
 *
 * An analyzer is one of the known ones, by name, or one the operator configured. Semgrep itself is not exercised by our
 * tests: a stand-in prints what its documented format describes, with its exit codes.
 */
import { posix } from 'node:path';
import { isToolError, type ToolError } from '@tool-runtime/protocol';
import type { ToolContext } from '@tool-runtime/sdk';
import type { Analysis } from './analyzer-adapter.ts';
import {
  analyzerCancelled,
  analyzerFailed,
  analyzerTimedOut,
  leavesWorkspace,
  missingConfig,
  notInstalled,
  outputTooLarge,
  tooManyPaths,
  unknownAnalyzer,
} from './analyzer-failures.ts';
import { ANALYZER_FORMATS, type AnalyzerFormat, type ParseContext, parseAnalysis } from './parse-analysis.ts';
import type { ReadSource } from './place/place-analysis.ts';
import * as catalog from './providers/catalog.ts';
import type { AnalyzerProvider, AnalyzerTarget } from './providers/provider.ts';
import { MAX_ANALYSIS_BYTES } from './read-json.ts';
import { relativeTo } from './workspace-path.ts';

/** An analyzer of the operator's own. Paths that a caller names are put after the arguments of the command. */
export interface ConfiguredAnalyzer {
  readonly name: string;
  /** The program's bare name and its arguments; no shell sees them. */
  readonly command: readonly string[];
  readonly format: AnalyzerFormat;
  readonly timeoutMs?: number;
  /** Default: 0 and 1. */
  readonly goodCodes?: readonly number[];
  readonly install?: string;
}

export interface AnalyzerRunnerOptions {
  readonly commands: Commands;
  /** Absolute and real path of the workspace, as its processes see it. */
  readonly root: string;
  /** For analyzers that count other than in UTF-16 units; without it their columns stay as they are, and a note says so. */
  readonly readSource?: ReadSource;
  /** Applied to what a failed analyzer printed before it goes into an error. */
  readonly redact?: (text: string) => string;
  /** Wins over a known analyzer of the same name. */
  readonly configured?: readonly ConfiguredAnalyzer[];
}

export interface AnalyzerRequest {
  readonly provider: string;
  /** Workspace-relative files and folders; none means the whole workspace. */
  readonly paths?: readonly string[];
  /** Workspace-relative configuration or rules; only known analyzers take it. */
  readonly config?: string;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export interface AnalyzerReport extends Analysis {
  readonly provider: string;
  readonly exitCode: number;
  readonly networkEnforced: boolean;
}

export interface AnalyzerRunner {
  /** Names that can be asked for, installed or not. */
  readonly names: readonly string[];
  /**
   * Throws E_VALIDATION_FAIL (unknown analyzer, missing rules, unreadable or too much output), E_POLICY (path outside, no
   * sandbox), E_SHELL (not installed, failed), E_TIMEOUT, or the signal's reason.
   */
  run(request: AnalyzerRequest): Promise<AnalyzerReport>;
}

const TIMEOUT_DEFAULT = 120_000;

/** Throws TypeError for a configured analyzer that cannot work. */
export function createAnalyzerRunner(options: AnalyzerRunnerOptions): AnalyzerRunner {
  const configured = (options.configured ?? []).map(toProvider);
  const providers = new Map([...Object.values(catalog), ...configured].map((provider) => [provider.name, provider]));
  const names = [...providers.keys()].sort();
  return {
    names,
    async run(request) {
      const provider = providers.get(request.provider);
      if (provider === undefined) throw unknownAnalyzer(request.provider, names);
      const result = await execute(provider, request, options);
      return { provider: provider.name, ...(await report(provider, result, request, options)) };
    },
  };
}

function toProvider(given: ConfiguredAnalyzer): AnalyzerProvider {
  const { name, command, format, timeoutMs, goodCodes = [0, 1] } = given;
  const [program] = command;
  if (program === undefined || program === '') throw new TypeError(`Analyzer has no command: ${name}`);
  if (!ANALYZER_FORMATS.includes(format)) throw new TypeError(`Analyzer has an unknown format: ${name}, ${format}`);
  return {
    name,
    format,
    goodCodes,
    install: given.install ?? `install ${program} into a folder programs are looked for in, or correct the command`,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    command: ({ paths }) => [...command, ...paths],
  };
}

async function execute(
  provider: AnalyzerProvider,
  { paths = [], config, timeoutMs, signal }: AnalyzerRequest,
  { commands }: AnalyzerRunnerOptions,
): Promise<ProcessResult> {
  const target = analyzerTarget(paths, config);
  if (provider.configHint !== undefined && config === undefined)
    throw missingConfig(provider.name, provider.configHint);
  try {
    return await runAnalyzerProcess(commands, {
      name: provider.name,
      argv: provider.command(target),
      timeoutMs: timeoutMs ?? provider.timeoutMs ?? TIMEOUT_DEFAULT,
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (thrown) {
    throw isMissingProgram(thrown) ? notInstalled(provider.name, provider.install, thrown) : thrown;
  }
}

/** The capability reports a missing program and a missing folder alike, but for what they are about. */
function isMissingProgram(thrown: unknown): boolean {
  return (
    isToolError(thrown) &&
    thrown.code === 'E_SHELL' &&
    (thrown.details['reason'] === 'not_found' || thrown.details['reason'] === 'outside_sandbox') &&
    thrown.path === 'cmd'
  );
}

async function report(
  provider: AnalyzerProvider,
  result: ProcessResult,
  { signal }: AnalyzerRequest,
  options: AnalyzerRunnerOptions,
): Promise<Omit<AnalyzerReport, 'provider'>> {
  const { exitCode, networkEnforced } = result;
  const context: ParseContext = {
    toRelative: relativeTo(options.root),
    provider: provider.name,
    ...(options.readSource === undefined ? {} : { readSource: options.readSource }),
    ...(signal === undefined ? {} : { signal }),
  };
  if (exitCode === null || !provider.goodCodes.includes(exitCode)) {
    throw failed(provider, result, { redact: options.redact, complaints: await complaints(provider, result, context) });
  }
  try {
    return { exitCode, networkEnforced, ...(await parseAnalysis(provider.format, result.stdout, context)) };
  } catch (thrown) {
    if (signal?.aborted === true) throw analyzerCancelled(provider.name, signal);
    // A code that means findings, and no findings to read: several analyzers end like this when they cannot work.
    if (exitCode === 0 || !isToolError(thrown)) throw thrown;
    throw failed(provider, result, { redact: options.redact, cause: thrown });
  }
}

interface FailureParts {
  readonly redact: ((text: string) => string) | undefined;
  readonly complaints?: readonly string[];
  readonly cause?: ToolError;
}

function failed({ name }: AnalyzerProvider, result: ProcessResult, parts: FailureParts): ToolError {
  const printed = [...(parts.complaints ?? []), result.shown].join('\n');
  const { exitCode, signal } = result;
  const output = parts.redact === undefined ? printed : parts.redact(printed);
  return analyzerFailed(name, {
    exitCode,
    signal,
    output,
    ...(parts.cause === undefined ? {} : { cause: parts.cause }),
  });
}

/** What a failed analyzer says in its own format, if it still printed that. */
async function complaints(
  { format }: AnalyzerProvider,
  { stdout }: ProcessResult,
  { toRelative }: ParseContext,
): Promise<readonly string[]> {
  try {
    const { notes } = await parseAnalysis(format, stdout, { toRelative });
    return notes.filter(({ kind }) => kind === 'tool').map(({ message }) => message);
  } catch (thrown) {
    // May stop here: the run has failed anyway, and what it printed is shown as it is.
    if (!isToolError(thrown)) throw thrown;
    return [];
  }
}

const MAX_PATHS = 1_000;

/**
 * What an analyzer may be pointed at: names inside the workspace that cannot be taken for options. Throws E_POLICY for
 * a path that leaves the workspace, E_VALIDATION_FAIL for too many.
 */
export function analyzerTarget(paths: readonly string[], config: string | undefined): AnalyzerTarget {
  if (paths.length > MAX_PATHS) throw tooManyPaths(MAX_PATHS);
  return {
    paths: paths.map((path) => safePath('paths', path)),
    config: config === undefined ? undefined : safePath('config', config),
  };
}

function safePath(argument: string, path: string): string {
  const normal = posix.normalize(path);
  const isOutside = path === '' || path.includes('\0') || normal.startsWith('/') || /^\.\.(?:\/|$)/.test(normal);
  if (isOutside) throw leavesWorkspace(argument, path);
  // Led by a dot no name is an option, a negated pattern or, to Semgrep, an entry of its registry.
  return normal === '.' ? normal : `./${normal}`;
}

type Commands = ToolContext['commands'];

interface ProcessPlan {
  readonly name: string;
  readonly argv: readonly string[];
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

interface ProcessResult {
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

/**
 * One run of an analyzer through the command capability: no shell, no network, bounded time and output.
 *
 * Throws E_TIMEOUT, E_VALIDATION_FAIL for too much output, the signal's reason, and what the capability throws.
 */
async function runAnalyzerProcess(commands: Commands, plan: ProcessPlan): Promise<ProcessResult> {
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
