/**
 * The whole life of a tool's process: answers `--capabilities` and `--version`, or runs the tool once and exits.
 *
 * Exit codes: 0 done, 1 failed, 2 not started because the environment is broken, or what a ToolFailure says. Whatever
 * the tool throws, also from a callback that is not awaited, ends up in `errors` of `result.json`.
 */
import { openOutputFolder, type RunNotes, writeResult } from './result-file.ts';
import type { Json } from './run-environment.ts';
import { EnvironmentFault, PROTOCOL_VERSION, type RunEnvironment, readRunEnvironment } from './run-environment.ts';
import { createContext, noteOf, type ToolContext, ToolFailure } from './tool-context.ts';

export interface ToolDescription {
  /** Lower-case letter or digit, then also `.`, `_` and `-`; at most 64. */
  readonly name: string;
  readonly version: string;
  readonly description?: string;
  /** False by default: the run needs a pack. */
  readonly requiresPack?: boolean;
  readonly network?: boolean;
  /** Tools that must have succeeded before. */
  readonly requiresTools?: readonly string[];
  /** Files that must be there, such as `index/outputs/table.json`. */
  readonly requiresOutputs?: readonly string[];
  /** Takes words on its command line; without it every word is refused. */
  readonly takesArgs?: boolean;
  run(context: ToolContext): Promise<void> | void;
}

const NAME = /^(?!.*\.\.)[a-z0-9][a-z0-9._-]{0,63}$/;

/** Ends the process. Throws TypeError for a description that no wrapper would accept. */
export async function runTool(tool: ToolDescription): Promise<never> {
  if (!NAME.test(tool.name)) throw new TypeError(`Not a name for a tool: ${tool.name}`);
  if (tool.version === '') throw new TypeError('A tool needs a version');
  // The reader of the progress may have left; the result must not be lost.
  process.stdout.on('error', () => {});
  process.stderr.on('error', () => {});
  const words = process.argv.slice(2);
  if (words[0] === '--capabilities') return leave(0, `${JSON.stringify(capabilitiesOf(tool))}\n`);
  if (words[0] === '--version') return leave(0, `${tool.version}\n`);
  const environment = enter(tool);
  return leave(environment === undefined ? 2 : await perform(tool, environment, words));
}

function capabilitiesOf(tool: ToolDescription): object {
  const { requiresTools = [], requiresOutputs = [] } = tool;
  return {
    name: tool.name,
    version: tool.version,
    protocol_version: PROTOCOL_VERSION,
    ...(tool.description === undefined ? {} : { description: tool.description }),
    // Left out it would mean true.
    requires_pack: tool.requiresPack ?? false,
    network: tool.network ?? false,
    ...(requiresTools.length === 0 ? {} : { requires_tools: requiresTools }),
    ...(requiresOutputs.length === 0 ? {} : { requires_outputs: requiresOutputs }),
  };
}

function enter(tool: ToolDescription): RunEnvironment | undefined {
  try {
    const environment = readRunEnvironment(tool.name, process.env);
    openOutputFolder(environment.runDir);
    return environment;
  } catch (thrown) {
    const problem = thrown instanceof EnvironmentFault ? '' : 'Run folder cannot be used: ';
    complain(tool, `${problem}${readFailure(thrown).message}`);
    return undefined;
  }
}

async function perform(tool: ToolDescription, environment: RunEnvironment, words: readonly string[]): Promise<number> {
  const notes: RunNotes = { outputs: [], errors: [], warnings: [] };
  const watch = watchProcess();
  let exitCode = 0;
  try {
    const args = argumentsOf(tool, environment, words);
    await Promise.race([tool.run(createContext({ environment, args, signal: watch.signal, notes })), watch.ended]);
    if (watch.signal.aborted) throw watch.signal.reason;
  } catch (thrown) {
    // What a cancelled operation throws says less than the signal that cancelled it.
    const isOwn = thrown instanceof ToolFailure || !watch.signal.aborted;
    const failure = readFailure(isOwn ? thrown : watch.signal.reason);
    exitCode = failure.exitCode;
    notes.errors.push(noteOf(failure.code, failure.message, failure.details));
  }
  if (exitCode === 0 && notes.errors.length > 0) exitCode = 1;
  for (const { message } of notes.errors) complain(tool, message);
  return record({ tool, environment, notes, exitCode, durationMs: Math.round(performance.now()) });
}

/** With a pack its path is the first word that is not the operator's; it is in the environment as well. */
function argumentsOf(tool: ToolDescription, { packPath }: RunEnvironment, words: readonly string[]): readonly string[] {
  if (tool.requiresPack === true && packPath === undefined)
    throw new ToolFailure(2, 'PACK_REQUIRED', 'The tool needs a pack and was given none');
  const at = packPath === undefined ? -1 : words.indexOf(packPath);
  const args = words.filter((_, index) => index !== at);
  if (tool.takesArgs !== true && args.length > 0)
    throw new ToolFailure(2, 'UNKNOWN_ARGUMENT', `The tool takes no arguments: ${args[0]}`);
  return args;
}

function record(run: Parameters<typeof writeResult>[0]): number {
  try {
    writeResult(run);
    return run.exitCode;
  } catch (thrown) {
    complain(run.tool, `Result cannot be written: ${readFailure(thrown).message}`);
    return run.exitCode === 0 ? 1 : run.exitCode;
  }
}

function complain({ name }: { readonly name: string }, message: string): void {
  process.stderr.write(`${name}: ${message}\n`);
}

/** Waits until everything written has left: `exit` alone may cut it off. */
async function leave(exitCode: number, lastWords = ''): Promise<never> {
  await new Promise((resolve) => process.stdout.write(lastWords, resolve));
  await new Promise((resolve) => process.stderr.write('', resolve));
  return process.exit(exitCode);
}

interface Failure {
  readonly exitCode: number;
  readonly code: string;
  readonly message: string;
  readonly details: Json | undefined;
}

/** Whatever was thrown, as exit code and entry for the result. */
function readFailure(thrown: unknown): Failure {
  if (thrown instanceof ToolFailure) {
    const { exitCode, code, message, details } = thrown;
    return { exitCode, code, message, details };
  }
  const message = thrown instanceof Error ? thrown.message || thrown.name : String(thrown);
  return { exitCode: 1, code: 'UNEXPECTED_ERROR', message, details: undefined };
}

interface ProcessWatch {
  readonly signal: AbortSignal;
  /** Never fulfilled; rejects when the run has to end now. */
  readonly ended: Promise<never>;
}

const GRACE_MS = 2000;

/**
 * What may end a run from outside the tool's own code: signals, unhandled errors, waiting for nothing. A signal asks
 * first. A tool that does not end in time is ended, so that a result is written before the wrapper gives up. Code that
 * never returns to the event loop cannot be asked.
 */
function watchProcess(): ProcessWatch {
  const controller = new AbortController();
  const { promise, reject } = Promise.withResolvers<never>();
  // The run may be over before anyone waits for this.
  promise.catch(() => {});
  function interrupt(name: NodeJS.Signals): void {
    const reason = new ToolFailure(1, 'INTERRUPTED', `Ended by ${name} before it was done`);
    if (controller.signal.aborted) reject(reason);
    controller.abort(reason);
    setTimeout(() => reject(reason), GRACE_MS);
  }
  process.on('SIGTERM', interrupt);
  process.on('SIGINT', interrupt);
  process.on('uncaughtException', reject);
  // Nothing is left that could wake the tool up: Node would end here without a result, and with exit code 0 or 13.
  process.on('beforeExit', () =>
    reject(new ToolFailure(1, 'STALLED', 'The tool waits for something that cannot come')),
  );
  return { signal: controller.signal, ended: promise };
}
