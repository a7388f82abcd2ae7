/**
 * The check of build.must.pass, lint.must.pass and fmt.must.pass: the registry's command, run in the sandbox.
 *
 * It checks files on disk, so disk and commit must agree before it runs, and after it: a command that changes files has
 * checked something else than what would be committed. A command that cannot run is a finding, never a pass.
 */
import { isToolError, type JsonObject } from '@tool-runtime/protocol';
import type { CommandOutcome } from '../contracts/commands.ts';
import type { ChangeSet } from '../contracts/git.ts';
import type { RuleContext, RuleDefinition, Violation } from '../contracts/rule.ts';
import type { CommandFinding } from '../findings/command-finding.ts';
import { readCommand } from '../shell/read-command.ts';
import { shownNames } from '../text/names.ts';

export interface CommandStep {
  readonly rule: string;
  /** Key of the registry's `commands` that is used when there is none for the rule itself. */
  readonly step: 'build' | 'lint' | 'fmt';
  readonly title: string;
  /** What to do about a command that changes files. */
  readonly whenItWrites: string;
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 600_000;
const MAX_OUTPUT_BYTES = 1024 * 1024;

export function checkCommand(step: CommandStep): RuleDefinition['check'] {
  return async (_subject, context) => {
    const command = commandFor(step, context);
    if (command === undefined) return [noCommand(step)];
    const changes = await context.changeSet();
    const differences = await changes.worktreeDifferences();
    if (differences.length > 0) return [otherFilesOnDisk(step, differences)];
    const violations = await runStep(step, command, context);
    return withFix([...violations, ...(await changedFiles(step, changes))], step, context);
  };
}

function commandFor({ rule, step }: CommandStep, { registry }: RuleContext): string | undefined {
  return registry.commands[rule] ?? registry.commands[step];
}

async function runStep(step: CommandStep, command: string, context: RuleContext): Promise<readonly Violation[]> {
  const deadline = AbortSignal.timeout(step.timeoutMs ?? TIMEOUT_MS);
  try {
    const running = await context.commands.start({
      list: readCommand(command),
      cwd: '.',
      env: {},
      stdin: null,
      network: false,
      maxOutputBytes: MAX_OUTPUT_BYTES,
      signal: AbortSignal.any([context.signal, deadline]),
    });
    const outcome = await running.done;
    context.signal.throwIfAborted();
    return await judge({ step, command, outcome, isLate: deadline.aborted }, context);
  } catch (thrown) {
    if (context.signal.aborted || !isToolError(thrown)) throw thrown;
    return [couldNotRun(step, command, thrown)];
  }
}

interface FinishedStep {
  readonly step: CommandStep;
  readonly command: string;
  readonly outcome: CommandOutcome;
  readonly isLate: boolean;
}

async function judge(finished: FinishedStep, context: RuleContext): Promise<readonly Violation[]> {
  const { step, command, outcome, isLate } = finished;
  if (outcome.code === 0) return [...quarantined(step, outcome), ...discarded(step, outcome)];
  const { findings, tail } = await readComplaints(outcome, context);
  const facts: JsonObject = { command, exit_code: outcome.code, signal: outcome.signal, output: tail };
  const [first, ...others] = findings;
  if (outcome.code === null || first === undefined) {
    const message = `${step.title} failed: ${howItEnded(finished)}`;
    const next = isLate ? `make commands.${step.step} faster` : 'read the output and fix what it reports';
    return [{ message, next, details: { reason: isLate ? 'timeout' : 'failed', ...facts } }, ...findings];
  }
  const reason = { reason: 'failed', ...facts };
  return [{ ...first, next: 'fix what the command reports', details: { ...first.details, ...reason } }, ...others].map(
    (violation) => ({ ...violation, message: `${step.title} failed: ${violation.message}` }),
  );
}

function howItEnded({ step, outcome, isLate }: FinishedStep): string {
  if (isLate) return `not done after ${step.timeoutMs ?? TIMEOUT_MS} ms`;
  return outcome.code === null ? `ended by ${outcome.signal ?? 'a signal'}` : `exit code ${outcome.code}`;
}

function noCommand({ rule, step }: CommandStep): Violation {
  return {
    message: `Rule has no command: ${rule}`,
    next: `set commands.${step} in the registry`,
    details: { reason: 'no_command' },
  };
}

function otherFilesOnDisk({ title }: CommandStep, paths: readonly string[]): Violation {
  return {
    message: `${title} would judge other files than would be committed: ${shownNames(paths)}`,
    next: 'git_add them, git_restore them or git_stash',
    details: { reason: 'worktree_differs', paths },
  };
}

async function changedFiles({ title, whenItWrites }: CommandStep, changes: ChangeSet): Promise<readonly Violation[]> {
  const paths = await changes.worktreeDifferences();
  if (paths.length === 0) return [];
  const message = `${title} changed files: ${shownNames(paths)}`;
  return [{ message, next: whenItWrites, details: { reason: 'files_changed', paths } }];
}

function quarantined({ title }: CommandStep, { quarantined: names = [] }: CommandOutcome): readonly Violation[] {
  if (names.length === 0) return [];
  return [
    {
      message: `${title} wrote where only the runtime may write: ${shownNames(names)}`,
      next: 'check what the command does; the files were moved aside',
      details: { reason: 'protected_files', paths: names },
    },
  ];
}

/** A preview keeps nothing of a check, so files that it changed first were not checked as they are. */
function discarded({ title, whenItWrites }: CommandStep, { effects }: CommandOutcome): readonly Violation[] {
  if (effects?.mode !== 'preview') return [];
  const paths = effects.changes.filter(({ before }) => before.kind === 'file').map(({ path }) => path.toWellFormed());
  if (paths.length === 0) return [];
  const message = `${title} changes files: ${shownNames(paths)}`;
  return [{ message, next: whenItWrites, details: { reason: 'files_changed', paths } }];
}

function couldNotRun(
  { title }: CommandStep,
  command: string,
  thrown: { message: string; details: JsonObject },
): Violation {
  const next = thrown.details['next'];
  return {
    message: `${title} could not run: ${thrown.message}`,
    ...(typeof next === 'string' ? { next } : {}),
    details: { ...thrown.details, reason: 'not_run', command },
  };
}

/** Proposed, never run: the operator's own command that fixes what this one reports. */
function withFix(
  violations: readonly Violation[],
  { step }: CommandStep,
  { registry }: RuleContext,
): readonly Violation[] {
  const command = registry.commands[`${step}.fix`];
  const [first, ...others] = violations;
  if (first === undefined || command === undefined) return violations;
  return [{ ...first, fix: { kind: 'command', command } }, ...others];
}

const MAX_VIOLATIONS = 50;
const TAIL_BYTES = 2048;

interface Complaints {
  readonly findings: readonly Violation[];
  readonly tail: string;
}

/** What a failed command printed, as violations where its format is known, and its last words in any case. */
async function readComplaints(outcome: CommandOutcome, context: RuleContext): Promise<Complaints> {
  const output = [outcome.stdout.text, outcome.stderr.text].filter((text) => text !== '').join('\n');
  const [{ parseFindings }, root] = await Promise.all([
    // Readers of two dozen formats: needed only when something has failed.
    import('../findings/parse-findings.ts'),
    workspaceRoot(context),
  ]);
  const { findings } = parseFindings(output, root === undefined ? {} : { root });
  const errors = findings.filter(({ severity }) => severity === 'error');
  const chosen = errors.length > 0 ? errors : findings;
  return { findings: chosen.slice(0, MAX_VIOLATIONS).map(asViolation), tail: tailOf(output) };
}

/** Many programs print absolute names. Git sees the workspace where the command saw it; without git, names stay as they are. */
async function workspaceRoot({ git, signal }: RuleContext): Promise<string | undefined> {
  try {
    const { code, stdout } = await git.run({
      words: ['rev-parse', '--show-toplevel'],
      access: 'read',
      accept: [0, 128],
      signal,
    });
    return code === 0 ? stdout.toString('utf8').replace(/\n$/, '') : undefined;
  } catch (thrown) {
    if (isToolError(thrown) && thrown.details['reason'] === 'no_repository') return undefined;
    throw thrown;
  }
}

function asViolation({ path, line, column, code, severity, message }: CommandFinding): Violation {
  return {
    message: code === undefined ? message : `${message} (${code})`,
    path,
    ...(line === undefined ? {} : { line }),
    details: {
      severity,
      ...(column === undefined ? {} : { column }),
      ...(code === undefined ? {} : { code }),
    },
  };
}

/** Whole characters, and from the start of a line where there is one. */
function tailOf(output: string): string {
  const bytes = Buffer.from(output.trimEnd(), 'utf8');
  if (bytes.length <= TAIL_BYTES) return bytes.toString('utf8');
  const cut = bytes.subarray(bytes.length - TAIL_BYTES).toString('utf8');
  const lineEnd = cut.indexOf('\n');
  return `…${cut.slice(lineEnd === -1 ? 0 : lineEnd + 1).replace(/^\uFFFD+/, '')}`;
}
