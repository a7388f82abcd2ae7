/** ast_edit: structural edits of code, planned whole, applied all or nothing. */
import { type CallProfile, defineTool, type Registry, type ToolText } from '@tool-runtime/sdk';
import type { UseServices } from '../plugin/code-services.ts';
import { editPrograms } from './edit/edit-programs.ts';
import { type EditAnswer, type EditArguments, editAnswer, editArguments } from './edit/edit-schemas.ts';

const THIRTY_SECONDS_MS = 30_000;
const TEN_MINUTES_MS = 600_000;
const PATH_KEYS = ['file', 'to_file', 'paths'];

export const astEdit = (use: UseServices) =>
  defineTool({
    name: 'ast_edit',
    category: 'ast',
    title: 'Edit code',
    summary:
      'Rename, replace, insert, move or delete functions, classes and other symbols, with their uses, all or nothing',
    policyNotes:
      'Writes only inside the workspace; formatter, build and language servers run in the sandbox where the registry allows programs',
    args: editArguments,
    get data() {
      return editAnswer();
    },
    annotations: {
      kind: 'edit',
      side_effect_level: 'process_exec',
      arg_schema: {
        path_params: PATH_KEYS,
        arg_aliases: { path: 'file', node_id: 'target_node_id', id: 'target_node_id' },
        required: ['operation'],
      },
      capabilities: { ast: ['edit'], workspace: ['write_text'] },
    },
    leastLevel: 'read_only',
    profile: profileOf,
    innerPaths,
    effect: 'write',
    risk: 'medium',
    async rehearse(given, context) {
      const [{ rehearseEdit }, { ensureIndex }] = await Promise.all([
        import('./edit/run-edit.ts'),
        import('./query/ensure-index.ts'),
      ]);
      return rehearseEdit(given, { services: use(context), index: await ensureIndex(use, context), context });
    },
    timeoutMs: THIRTY_SECONDS_MS,
    maxTimeoutMs: TEN_MINUTES_MS,
    timeoutArg: 'timeout_ms',
    privateArgs: ['text', 'replacement', 'operations'],
    locks: ['ast'],
    needs: ['ast'],
    present: presentEdit,
    async run(given, context) {
      const [{ runEdit }, { ensureIndex }] = await Promise.all([
        import('./edit/run-edit.ts'),
        import('./query/ensure-index.ts'),
      ]);
      return runEdit(given, { services: use(context), index: await ensureIndex(use, context), context });
    },
  });

/** A batch names its files inside its operations. */
function innerPaths({ operations = [] }: EditArguments): readonly { key: string; value: string }[] {
  return operations.flatMap((operation) =>
    PATH_KEYS.flatMap((key) =>
      [operation[key]].flat().flatMap((value) => (typeof value === 'string' ? [{ key, value }] : [])),
    ),
  );
}

function profileOf(given: EditArguments, registry: Registry): Partial<CallProfile> {
  const { format, build, servers } = editPrograms(given, registry);
  if (format || build || servers) return build ? { effect: 'process' } : {};
  if (given.dry_run) return { kind: 'search', side_effect_level: 'read_only', effect: 'read', risk: 'low' };
  return { side_effect_level: 'workspace_write' };
}

function presentEdit(answer: EditAnswer): ToolText {
  const { edited, files_touched, edits, confidence, residual, renamed_ids, warnings, diff, build } = answer;
  const places = (title: string, found: readonly { file: string; line: number; message: string }[] = []): string[] =>
    found.length === 0 ? [] : [title, ...found.map(({ file, line, message }) => `  ${file}:${line}: ${message}`)];
  const head = [
    `${edited ? 'edited' : 'would edit'} ${edits} places in ${files_touched.length} files, confidence ${confidence}`,
    ...(build === undefined ? [] : [`build: ${build}`]),
    ...warnings.map((warning) => `warning: ${warning}`),
    ...places('new syntax errors:', answer.parse_errors),
    ...places('new diagnostics:', answer.diagnostics),
    ...places(
      'left unchanged:',
      residual.map(({ kind, ...place }) => ({ ...place, message: kind })),
    ),
    ...Object.entries(renamed_ids).map(([from, to]) => `id ${from} is now ${to}`),
  ];
  const more = answer.diff_truncated === true ? '\n[the diff is longer than this: edit fewer files at once]' : '';
  return {
    head: head.join('\n'),
    parts: [
      { type: 'text', text: files_touched },
      { type: 'text', text: diff === undefined ? '' : `${diff}${more}` },
    ],
  };
}
