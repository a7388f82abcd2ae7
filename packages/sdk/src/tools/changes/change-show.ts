/** change_show: one change set as a unified diff, or its paths alone. */
import { z } from 'zod';
import type { PathState } from '../../changes/change-set.ts';
import { defineTool, type ToolContext } from '../../contracts/tool.ts';
import type { ToolText } from '../../contracts/tool-text.ts';
import { counted } from '../../present/rows.ts';
import { decodeText } from '../../text/encoding.ts';
import { lineDiff } from '../../text/line-diff.ts';
import { changeId, pathRow, requireSet, rowOf, rowText, type VisiblePaths, visiblePaths } from './change-fields.ts';

const MAX_DIFF_CHARS = 200_000;

const args = z.strictObject({
  change_id: changeId,
  path: z.string().min(1).exactOptional().describe('Only this file'),
  view: z.enum(['diff', 'stat']).default('diff').describe('`stat`: the paths without their content'),
});

const data = z.strictObject({
  change_id: z.string(),
  tool: z.string(),
  actor: z.string(),
  at: z.string(),
  status: z.string(),
  paths: z.array(pathRow),
  withheld: z.int().describe('Paths that this session may not see'),
  diff: z.string().exactOptional().describe('Unified diff; known secrets are masked in it'),
  truncated: z.boolean().describe('The diff ends before the last file'),
});

export const changeShow = defineTool({
  name: 'change_show',
  category: 'changes',
  title: 'Show a change set',
  summary: 'Show what one call changed in files, as a unified diff',
  args,
  data,
  annotations: {
    kind: 'read',
    side_effect_level: 'read_only',
    arg_schema: {
      path_params: ['path'],
      set_params: ['path'],
      arg_aliases: { id: 'change_id' },
      required: ['change_id'],
    },
    capabilities: { workspace: ['read'] },
  },
  // What file_read may not show is not shown here either.
  operations: () => ({ workspace: ['read_text'] }),
  effect: 'read',
  inTransaction: 'outside',
  risk: 'low',
  timeoutMs: 30_000,
  present: presentSet,
  async run({ change_id, path, view }, context) {
    const set = requireSet(context.history, change_id);
    const { shown, withheld } = visiblePaths(set.paths, context);
    const wanted = path === undefined ? shown : shown.filter(({ name }) => name === path);
    const whole = view === 'diff' ? await diffOf(wanted, context) : undefined;
    return {
      ...{
        change_id: set.change_id,
        tool: set.tool,
        actor: set.actor,
        at: new Date(set.at).toISOString(),
        status: set.status,
      },
      paths: wanted.map(rowOf),
      withheld,
      ...(whole === undefined ? {} : { diff: whole.slice(0, MAX_DIFF_CHARS) }),
      truncated: whole !== undefined && whole.length > MAX_DIFF_CHARS,
    };
  },
});

async function diffOf(paths: VisiblePaths['shown'], context: ToolContext): Promise<string> {
  const parts: string[] = [];
  let length = 0;
  for (const { path, name, before, after } of paths) {
    if (length > MAX_DIFF_CHARS) break;
    const [old, now] = [await textOf(before, path, context), await textOf(after, path, context)];
    const shown = name.toWellFormed();
    const [from, to] = [
      before.kind === 'absent' ? '/dev/null' : `a/${shown}`,
      after.kind === 'absent' ? '/dev/null' : `b/${shown}`,
    ];
    const lines = [`--- ${from}`, `+++ ${to}`, ...modeLines(before, after)];
    const body = old === undefined || now === undefined ? 'content is not text, or was not kept\n' : lineDiff(old, now);
    parts.push(`${lines.join('\n')}\n${body}`);
    length += parts.at(-1)?.length ?? 0;
  }
  return parts.join('');
}

function modeLines(before: PathState, after: PathState): readonly string[] {
  const word = (state: PathState) => ('mode' in state ? `${state.kind} ${state.mode.toString(8)}` : state.kind);
  return word(before) === word(after) ? [] : [`${word(before)} -> ${word(after)}`];
}

/** Undefined for what is no text or not kept. A link counts as the text of its target, a folder as nothing. */
async function textOf(state: PathState, path: string, { history, redact }: ToolContext): Promise<string | undefined> {
  if (state.kind === 'link') return `${redact(state.target.toWellFormed())}\n`;
  if (state.kind !== 'file') return '';
  const bytes = history.bytes(state.digest) ?? (await history.read(path, state.digest));
  if (bytes === undefined || bytes.includes(0)) return undefined;
  const text = decodeText(bytes, 'utf-8');
  return text === undefined ? undefined : redact(text);
}

function presentSet({ change_id, tool, at, status, paths, diff, withheld }: z.output<typeof data>): ToolText {
  const hidden = withheld === 0 ? '' : `, ${counted(withheld, 'path')} withheld`;
  const head = `${change_id} ${at} ${tool} ${status}: ${counted(paths.length, 'path')}${hidden}`;
  return { head, parts: [{ type: 'text', text: diff ?? paths.map(rowText) }] };
}
