/** One call of ast_edit: plan, show or apply, and say what became of it. */
import { type ErrorEntry, ToolError } from '@tool-runtime/protocol';
import type { ToolContext } from '@tool-runtime/sdk';
import type { CodeIndex } from '../../contracts/code-index-contract.ts';
import type { AppliedEdit } from '../../edit/apply-edit.ts';
import { writePlan } from '../../edit/apply-plan.ts';
import type { EditRequest } from '../../edit/edit-operations.ts';
import type { EditPlan } from '../../edit/edit-plan.ts';
import { createEditor, type Editor, type EditorOptions } from '../../edit/editor.ts';
import { openWorkspaceFiles } from '../../edit/workspace-files.ts';
import { lateNews } from '../../lsp/watch-diagnostics.ts';
import type { CodeServices } from '../../plugin/code-services.ts';
import { isWholeTable } from '../../plugin/granted-providers.ts';
import { pythonAccepts, watchChange } from '../../plugin/runtime-index.ts';
import { createBuildCheck } from '../../programs/build-command.ts';
import { createCodeFormatter } from '../../programs/code-formatter.ts';
import { type EditPrograms, editPrograms, wantedPrograms } from './edit-programs.ts';
import { type EditAnswer, type EditArguments, operationOf } from './edit-schemas.ts';

export interface EditSetting {
  readonly services: CodeServices;
  readonly index: CodeIndex;
  readonly context: ToolContext;
}

const MAX_DIFF_CHARACTERS = 256 * 1024;

export async function runEdit(given: EditArguments, setting: EditSetting): Promise<EditAnswer> {
  const { context } = setting;
  const programs = grantedPrograms(given, setting);
  sayWhatIsLeftOut(given, programs, context);
  const editor = createEditor(await editorOptions(programs, setting));
  const { signal } = context;
  // The editor checks every word of it.
  const plan = await editor.plan(withLanguage(given, context) as EditRequest, { signal, format: programs.format });
  requireAllowed(plan, context);
  if (given.dry_run) return planned(plan, editor);
  return applied(editor, plan, { ...setting, validateBuild: programs.build });
}

/**
 * The same plan, written to a workspace that only notes it. Formatters, builds and language servers are programs, whose
 * work cannot be foreseen; undefined then.
 */
export async function rehearseEdit(given: EditArguments, setting: EditSetting): Promise<EditAnswer | undefined> {
  const programs = grantedPrograms(given, setting);
  if (programs.format || programs.build || programs.servers || given.dry_run) return undefined;
  const { signal, workspace } = setting.context;
  const editor = createEditor(await editorOptions(programs, setting));
  const plan = await editor.plan(withLanguage(given, setting.context) as EditRequest, { signal });
  const { changes } = await writePlan(plan, workspace, signal);
  return { ...planAnswer(plan), edited: changes.length > 0 };
}

/** Servers are those of the whole runtime: a session that has fewer of them plans without. */
function grantedPrograms(given: EditArguments, { services, context }: EditSetting): EditPrograms {
  const programs = editPrograms(given, context.registry);
  const isWhole = isWholeTable(services.ports.registry.providers, context.registry.providers);
  if (isWhole || !programs.servers) return programs;
  if (given.server === 'require' || given.operation === 'code_action') throw noServers();
  return { ...programs, servers: false };
}

function noServers(): ToolError {
  return new ToolError('E_POLICY', 'This session may not use the language servers of its host', {
    path: 'server',
    details: { gate: 'registry', field: 'providers', next: 'plan without a server, or keep the providers of the host' },
  });
}

/** A rewrite is in the registry's language unless it says otherwise. */
function withLanguage(given: EditArguments, { registry }: ToolContext): Record<string, unknown> {
  const operation = operationOf(given);
  const { language } = registry.ast;
  return given.operation === 'rewrite' && language !== undefined ? { language, ...operation } : operation;
}

async function editorOptions(programs: EditPrograms, setting: EditSetting): Promise<EditorOptions> {
  const { services, index, context } = setting;
  const { workspace, commands, registry, redact } = context;
  const engine = await services.engine();
  return {
    index,
    engine,
    memory: await services.memory(),
    files: (signal) => openWorkspaceFiles({ workspace, index, signal }),
    ...(programs.servers ? { servers: await services.servers(context.signal) } : {}),
    ...(programs.format ? { formatter: createCodeFormatter({ commands, workspace, registry, redact }) } : {}),
    ...(programs.build
      ? {
          build: createBuildCheck({
            commands,
            registry,
            redact,
            languageOf: (path) => index.fileRow(path)?.language ?? engine.detect(path),
          }),
        }
      : {}),
  };
}

/** What was asked for and cannot be had here is said, not silently dropped. */
function sayWhatIsLeftOut(given: EditArguments, programs: EditPrograms, { registry, warn }: ToolContext): void {
  const wanted = wantedPrograms(given, registry.ast);
  if (wanted.format && !programs.format) warn(leftOut('Not formatted'));
  if (wanted.build && !programs.build) warn(leftOut('Not built'));
}

function leftOut(what: string): ErrorEntry {
  return {
    code: 'E_POLICY',
    message: `${what}: this registry does not allow programs`,
    details: {
      reason: 'side_effect_level',
      next: 'name commands in the registry, or raise side_effect_level to process_exec',
    },
  };
}

function planned(plan: EditPlan, editor: Editor): EditAnswer {
  const diff = editor.diff(plan);
  const isCut = diff.length > MAX_DIFF_CHARACTERS;
  return {
    ...planAnswer(plan),
    diff: isCut ? diff.slice(0, MAX_DIFF_CHARACTERS) : diff,
    ...(isCut ? { diff_truncated: true } : {}),
  };
}

function planAnswer(plan: EditPlan): EditAnswer {
  return {
    edited: false,
    files_touched: plan.files.map(({ path }) => path),
    edits: plan.edits,
    confidence: plan.confidence,
    residual: plan.residual.map((one) => ({ ...one })),
    renamed_ids: { ...plan.renamedIds },
    warnings: [...plan.warnings],
  };
}

/** The gate saw the declared paths only; what a plan touches is known now, and a dry run shows it. */
function requireAllowed({ files }: EditPlan, { workspace }: ToolContext): void {
  for (const { path, after } of files) workspace.requireAllowed(path, after === null ? 'delete' : 'write');
}

async function applied(
  editor: Editor,
  plan: EditPlan,
  { services, index, context, validateBuild }: EditSetting & { readonly validateBuild: boolean },
): Promise<EditAnswer> {
  const { workspace, signal } = context;
  const paths = plan.files.filter(({ after }) => after !== null).map(({ path }) => path);
  const { registry } = context;
  const watch = await watchChange(services, registry, paths);
  const { changes: _, ...edit }: AppliedEdit = await editor.apply(plan, workspace, { signal, validateBuild });
  const news = await watch?.(paths);
  if (news !== undefined && news.late.length > 0) context.warn(lateNews(news.late, registry.ast.diagnostics_wait_ms));
  const errors = await newParseErrors(paths, { services, index, signal });
  return {
    ...edit,
    files_touched: [...edit.files_touched],
    residual: edit.residual.map((one) => ({ ...one })),
    renamed_ids: { ...edit.renamed_ids },
    warnings: [...edit.warnings],
    ...(errors.length === 0 ? {} : { parse_errors: errors }),
    // An empty list says that nothing new is wrong, which is not known of a file whose answer is late.
    ...(news === undefined || (news.found.length === 0 && news.late.length > 0)
      ? {}
      : { diagnostics: [...news.found] }),
  };
}

async function newParseErrors(
  paths: readonly string[],
  { services, index, signal }: Pick<EditSetting, 'services' | 'index'> & { readonly signal: AbortSignal },
): Promise<NonNullable<EditAnswer['parse_errors']>> {
  const errors: NonNullable<EditAnswer['parse_errors']> = [];
  for (const file of paths) {
    const now = index.fileRow(file)?.problems ?? 0;
    if (now === 0 || now <= (index.problemsBefore(file) ?? 0)) continue;
    if (await pythonAccepts(file, services, signal)) continue;
    for (const { line, col, message } of await index.problemsOf(file)) errors.push({ file, line, col, message });
  }
  return errors;
}
