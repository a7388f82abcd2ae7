/** Applies a plan to a workspace: build before, write, build after, and the index and servers told at every turn. */
import { isToolError, ToolError } from '@tool-runtime/protocol';
import type { FileChange, Workspace } from '@tool-runtime/sdk';
import type { CodeIndex } from '../contracts/code-index-contract.ts';
import type { LspManager } from '../lsp/language-servers.ts';
import type { ChangedPath } from '../lsp/open-documents.ts';
import { restoreFailed, type Written, writePlan } from './apply-plan.ts';
import { throwIfAborted } from './edit-failures.ts';
import type { Confidence, EditPlan, Residual } from './edit-plan.ts';
import type { SessionMemory } from './session-memory.ts';

/** The port of the build: says whether the workspace, as it is on disk, builds. */
export interface BuildReport {
  readonly ok: boolean;
  /** For people: the command, or a description of it. */
  readonly command: string;
  /** End of what it printed. */
  readonly output: string;
}

interface BuildRequest {
  readonly paths: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

export interface BuildCheck {
  /** `paths` are what an edit touches. Undefined: nothing builds these. Throws when the build cannot be run at all. */
  check(request: BuildRequest): Promise<BuildReport | undefined>;
}

export interface ApplyOptions {
  readonly signal?: AbortSignal;
  /** Run the build check before and after; a build that the edit breaks takes the edit back. */
  readonly validateBuild?: boolean;
}

export interface AppliedEdit {
  readonly edited: boolean;
  readonly files_touched: readonly string[];
  readonly edits: number;
  readonly confidence: Confidence;
  readonly residual: readonly Residual[];
  readonly renamed_ids: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
  /** Undefined when no build was asked for. */
  readonly build?: 'passed' | 'failed_before' | 'none';
  readonly changes: readonly FileChange[];
}

export interface Application {
  readonly plan: EditPlan;
  readonly workspace: Workspace;
  readonly index: CodeIndex;
  readonly memory: SessionMemory;
  readonly servers?: LspManager;
  readonly build?: BuildCheck;
}

export async function applyPlan(application: Application, options: ApplyOptions): Promise<AppliedEdit> {
  const { plan, workspace, memory } = application;
  const { signal } = options;
  throwIfAborted(signal);
  if (plan.files.length === 0) return applied(plan, [], {});
  const before = options.validateBuild === true ? await runBuild(application, signal) : undefined;
  const written = await writePlan(plan, workspace, signal);
  try {
    const result = await confirm(application, options, before);
    await tell(application, written.changes);
    memory.rename(plan.renamedIds);
    return applied(plan, written.changes, result);
  } catch (thrown) {
    throw await takeBack(application, written, thrown);
  }
}

type BuildResult = Pick<AppliedEdit, 'build'> & { readonly warning?: string };

async function confirm(
  application: Application,
  { signal, validateBuild }: ApplyOptions,
  before: BuildReport | undefined,
): Promise<BuildResult> {
  throwIfAborted(signal);
  if (validateBuild !== true) return {};
  if (before === undefined) return { build: 'none', warning: 'no build command is configured' };
  if (!before.ok) {
    return { build: 'failed_before', warning: `the build was broken before the edit already: ${before.command}` };
  }
  const after = await runBuild(application, signal).catch((thrown: unknown) => {
    throwIfAborted(signal);
    throw isToolError(thrown) ? notRun(thrown) : thrown;
  });
  throwIfAborted(signal);
  if (after === undefined || after.ok) return { build: 'passed' };
  throw new ToolError('E_VALIDATION_FAIL', `Edit breaks the build, it was taken back: ${after.command}`, {
    details: {
      reason: 'build_failed',
      command: after.command,
      output: after.output,
      restored: true,
      next: 'look at the output and plan another edit',
    },
  });
}

function notRun({ code, message, details }: ToolError): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Build could not be run after the edit, which was taken back: ${message}`, {
    details: { ...details, reason: 'build_not_run', cause_code: code, restored: true, next: 'fix the build command' },
  });
}

function runBuild({ build, plan }: Application, signal: AbortSignal | undefined): Promise<BuildReport | undefined> {
  if (build === undefined) return Promise.resolve(undefined);
  return build.check({ signal, paths: plan.files.map(({ path }) => path) });
}

async function takeBack(application: Application, written: Written, thrown: unknown): Promise<unknown> {
  const left = await written.undo();
  await tell(application, written.changes.map(reversed)).catch(() => {});
  return left.length === 0 ? thrown : restoreFailed(left, thrown);
}

function reversed({ path, before, after }: FileChange): FileChange {
  return { path, before: after, after: before };
}

/** Without the caller's signal: what is on disk must be known. */
async function tell({ index, servers }: Application, changes: readonly FileChange[]): Promise<void> {
  await index.refresh(changes, new AbortController().signal);
  // A server that cannot be notified is restarted or paused; the edit stays.
  await servers?.changed(changes.map(changedPath)).catch(() => {});
}

function changedPath({ path, before, after }: FileChange): ChangedPath {
  const kind = after === null ? 'deleted' : before === null ? 'created' : 'changed';
  return { path, kind };
}

function applied(plan: EditPlan, changes: readonly FileChange[], { build, warning }: BuildResult): AppliedEdit {
  return {
    edited: changes.length > 0,
    files_touched: plan.files.map(({ path }) => path),
    edits: plan.edits,
    confidence: plan.confidence,
    residual: plan.residual,
    renamed_ids: plan.renamedIds,
    warnings: warning === undefined ? plan.warnings : [...plan.warnings, warning],
    ...(build === undefined ? {} : { build }),
    changes,
  };
}
