/** Reads `git ls-files --unmerged -z`: up to three entries a file, and which of them are there says what happened. */

export const CONFLICT_KINDS = [
  'both_deleted',
  'added_by_us',
  'deleted_by_them',
  'added_by_them',
  'deleted_by_us',
  'both_added',
  'both_modified',
] as const;
export type ConflictKind = (typeof CONFLICT_KINDS)[number];

export interface Stage {
  readonly mode: string;
  readonly blob: string;
}

export interface UnmergedFile {
  readonly path: string;
  readonly kind: ConflictKind;
  /** Base, ours, theirs. */
  readonly stages: readonly (Stage | null)[];
}

export function parseUnmerged(output: string): readonly UnmergedFile[] {
  const files = new Map<string, (Stage | null)[]>();
  for (const record of output.split('\0')) {
    const [, mode = '', blob = '', stage = '', path = ''] = /^(\d+) ([0-9a-f]+) ([123])\t(.*)$/s.exec(record) ?? [];
    if (path === '') continue;
    const stages = files.get(path) ?? [null, null, null];
    stages[Number(stage) - 1] = { mode, blob };
    files.set(path, stages);
  }
  return [...files].map(([path, stages]) => ({ path, kind: kindOf(stages), stages }));
}

/** One bit for each side that has the file: base 1, ours 2, theirs 4. */
function kindOf(stages: readonly (Stage | null)[]): ConflictKind {
  const bits = stages.reduce((sum, stage, index) => sum + (stage === null ? 0 : 1 << index), 0);
  return CONFLICT_KINDS[bits - 1] ?? 'both_modified';
}
