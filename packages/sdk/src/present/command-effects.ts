/** What a command changed in the workspace, as its answer shows it. */
import type { ErrorEntry } from '@tool-runtime/protocol';
import { z } from 'zod';
import type { PathChange } from '../changes/change-set.ts';
import type { CommandEffects } from '../contracts/commands.ts';
import type { ToolText } from '../contracts/tool-text.ts';

const MAX_LISTED = 200;

export const commandEffects = z.strictObject({
  mode: z
    .enum(['recorded', 'preview', 'staged'])
    .describe('preview: nothing is real until change_apply; staged: until tx_commit'),
  total: z.int().describe('Changed files, links and folders'),
  added: z.array(z.string()).describe(`Of each list the first ${MAX_LISTED}`),
  modified: z.array(z.string()),
  deleted: z.array(z.string()),
  left_out: z.array(z.strictObject({ path: z.string(), reason: z.string() })).optional(),
  diff: z.string().optional().describe('What would change, cut at 64 KiB; with preview only'),
});

type EffectsData = z.output<typeof commandEffects>;

export function effectsData({ mode, changes, leftOut, diff }: CommandEffects): EffectsData {
  const named = (isMeant: (change: PathChange) => boolean): string[] =>
    changes
      .filter(isMeant)
      .slice(0, MAX_LISTED)
      .map(({ path }) => path.toWellFormed());
  return {
    mode,
    total: changes.length,
    added: named(({ before }) => before.kind === 'absent'),
    modified: named(({ before, after }) => before.kind !== 'absent' && after.kind !== 'absent'),
    deleted: named(({ after }) => after.kind === 'absent'),
    ...(leftOut.length === 0
      ? {}
      : { left_out: leftOut.map(({ path, reason }) => ({ path: path.toWellFormed(), reason })) }),
    ...(diff === undefined ? {} : { diff: diff.toWellFormed() }),
  };
}

/** The changes are named after how the command ended, the diff comes after what it printed. */
export function effectsText(effects: EffectsData, { head = '', parts = [] }: ToolText): ToolText {
  const { mode, total, added, modified, deleted, left_out: leftOut = [], diff } = effects;
  const what = WORDS[mode];
  const rows = [
    ...named('added', added),
    ...named('modified', modified),
    ...named('deleted', deleted),
    ...leftOut.map(({ path, reason }) => `left out: ${path} (${reason})`),
  ];
  return {
    head: [`${head}, ${total} ${total === 1 ? 'path' : 'paths'} ${what}`, ...rows].join('\n'),
    parts: [...parts, ...(diff === undefined ? [] : [{ type: 'text' as const, text: diff }])],
  };
}

const WORDS = {
  recorded: 'changed',
  preview: 'would change, nothing is real until change_apply',
  staged: 'changed in the transaction, nothing is real until tx_commit',
} as const;
const SHOWN = 20;

function named(how: string, paths: readonly string[]): readonly string[] {
  if (paths.length === 0) return [];
  const more = paths.length > SHOWN ? ` and ${paths.length - SHOWN} more` : '';
  return [`${how}: ${paths.slice(0, SHOWN).join(', ')}${more}`];
}

/** For a command that was to be recorded. */
export function notRecorded(problem: string): ErrorEntry {
  return {
    code: 'E_POLICY',
    message: `Command ran directly, without a change set: ${problem}`,
    details: { reason: 'not_recorded', next: 'use effects: preview where that must not happen' },
  };
}
