/** Compares a plan with what a language server would do. Every difference must have a reason that is listed. */
import assert from 'node:assert/strict';
import type { RenameEdit, RenamePlan, RenameTarget } from '../../src/scope/rename/rename-plan.ts';
import type { ProjectFiles } from '../../src/scope/scope-model.ts';
import type { ServerEdit } from './language-server-client.ts';

export interface Difference {
  /** Who would edit here: one of them, or both with another text. */
  readonly by: 'resolver' | 'server' | 'both';
  readonly path: string;
  readonly start: number;
  readonly newText: string;
  /** The server's text where both edit. */
  readonly serverText?: string | undefined;
  /** Text before and after the place, in its line. */
  readonly before: string;
  readonly after: string;
}

export interface Reason {
  readonly name: string;
  explains(difference: Difference, plan: RenamePlan): boolean;
}

export interface Tally {
  compared: number;
  exact: number;
  refused: number;
  positions: number;
  readonly reasons: Map<string, number>;
}

export function newTally(): Tally {
  return { compared: 0, exact: 0, refused: 0, positions: 0, reasons: new Map() };
}

export function describeTally({ compared, exact, refused, positions, reasons }: Tally): string {
  const why = [...reasons].map(([name, count]) => `${name}: ${count}`).join(', ');
  return `${exact} of ${compared} renames equal in ${positions} positions, ${refused} refused; differences: ${why || 'none'}`;
}

export function differences(plan: RenamePlan, server: readonly ServerEdit[], files: ProjectFiles): Difference[] {
  const mine = new Map(plan.edits.map((edit) => [`${edit.path}@${edit.start}`, edit]));
  const theirs = new Map(server.map((edit) => [`${edit.path}@${edit.start}`, edit]));
  const place = (by: Difference['by'], { path, start, newText }: RenameEdit | ServerEdit): Difference => {
    const bytes = Buffer.from(files.read(path) ?? []);
    const from = bytes.lastIndexOf('\n', Math.max(0, start - 1)) + 1;
    const to = bytes.indexOf('\n', start);
    const before = start === 0 ? '' : bytes.subarray(from, start).toString();
    const after = bytes.subarray(start, to === -1 ? bytes.length : to).toString();
    return { by, path, start, newText, serverText: theirs.get(`${path}@${start}`)?.newText, before, after };
  };
  return [
    ...[...mine].filter(([key]) => !theirs.has(key)).map(([, edit]) => place('resolver', edit)),
    ...[...theirs].filter(([key]) => !mine.has(key)).map(([, edit]) => place('server', edit)),
    ...[...mine]
      .filter(([key, { newText }]) => (theirs.get(key)?.newText ?? newText) !== newText)
      .map(([, edit]) => place('both', edit)),
  ];
}

/** Counts one comparison; fails on a difference without a reason. */
export function explain(
  found: readonly Difference[],
  plan: RenamePlan,
  reasons: readonly Reason[],
  tally: Tally,
): void {
  tally.compared++;
  tally.positions += plan.edits.length;
  if (found.length === 0) tally.exact++;
  for (const difference of found) {
    const reason = reasons.find((one) => one.explains(difference, plan));
    const { by, path, before, after, newText } = difference;
    assert.ok(reason, `Edited by ${by} in ${path}: ${before}▸${after} (${newText})`);
    tally.reasons.set(reason.name, (tally.reasons.get(reason.name) ?? 0) + 1);
  }
}

/** What fails in there names the symbol and shows the project, so that it can be repeated without its seed. */
export async function inProject(
  texts: Readonly<Record<string, string>>,
  { path, nameStart, name }: RenameTarget,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (cause) {
    const files = Object.entries(texts).map(([file, text]) => `--- ${file}\n${text}`);
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${why}\nRename of ${name} in ${path} at byte ${nameStart} in\n${files.join('\n')}`, { cause });
  }
}

export const inComment: Reason = {
  name: 'names in doc comments are reported, not edited',
  explains: ({ by, before }) => by === 'server' && /^\s*(?:\/\*\*|\*)|\/\*\*/.test(before),
};

/** TypeScript 7.0 turns `{ g }` into `{ renamed: g }` when `g` is a class, which leaves a name that is gone. */
export const wrongSide: Reason = {
  name: 'the server swaps the sides of a shorthand that names a class',
  explains: ({ by, newText, serverText }) => by === 'both' && serverText === newText.split(': ').reverse().join(': '),
};

/** TypeScript 7.0 renames `ns.g` although `export { renamed as g }` keeps the name, when `g` comes out of a pattern. */
export const pastTheList: Reason = {
  name: 'the server goes past an export list',
  explains: ({ by }, { edits }) =>
    by === 'server' && edits.some(({ role }) => role === 'export') && edits.some(({ role }) => role === 'shorthand'),
};

/**
 * TypeScript 7.0 renames `ns.g` although `export { renamed as g } from` keeps the name, when the file that reads `ns.g`
 * also imports the module of `g` itself. Its own edits then lead nowhere.
 */
export const pastTheReexport: Reason = {
  name: 'the server goes past a re-export',
  explains: ({ by, before, after }, { edits }) => {
    const old = /^[\w$]+/.exec(after)?.[0] ?? '';
    const isKept = edits.some(({ role, newText }) => role === 'export' && newText.endsWith(` as ${old}`));
    return by === 'server' && isKept && /(?:\.|\[['"])$/.test(before);
  },
};
