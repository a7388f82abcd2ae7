/** Reads `git diff-tree -r -z --raw` and its relatives: which paths changed, into which objects. */
import type { ChangedFile, ChangeKind } from '../contracts/git.ts';

const KINDS: Readonly<Record<string, ChangeKind>> = {
  A: 'added',
  M: 'modified',
  D: 'deleted',
  R: 'renamed',
  C: 'copied',
  T: 'type_changed',
  U: 'modified',
};

/** `R100` and its like too. */
export function changeKind(status: string): ChangeKind {
  return KINDS[status.charAt(0)] ?? 'modified';
}

const NO_OBJECT = /^0+$/;

export function parseRawDiff(output: string): readonly ChangedFile[] {
  const fields = output.split('\0');
  const files: ChangedFile[] = [];
  for (let at = 0; at < fields.length; at++) {
    const field = fields[at] ?? '';
    if (!field.startsWith(':')) continue;
    const [, mode = '', , blob = '', status = ''] = field.slice(1).split(' ');
    const kind = changeKind(status);
    const first = fields[++at] ?? '';
    const moved = kind === 'renamed' || kind === 'copied';
    const path = moved ? (fields[++at] ?? '') : first;
    const hasBlob = kind !== 'deleted' && !NO_OBJECT.test(blob);
    files.push({ path, ...(moved ? { from: first } : {}), kind, mode, blob: hasBlob ? blob : undefined });
  }
  return files;
}
