/** The lines of a diff that are neither names nor hunks: git's extended headers, other formats, and the text around. */
import { safeText } from '@tool-runtime/protocol/internal';
import { invalidDiff } from './diff-errors.ts';
import type { DiffReader } from './diff-reader.ts';

export interface FileFacts {
  isCreation: boolean;
  isDeletion: boolean;
  newMode: number | undefined;
}

const MODE = /^(?:old mode|new mode|new file mode|deleted file mode) (.*?)\s*$/;
const REGULAR_FILE = 0o100000;
const FOREIGN = ['*** Begin Patch', '*** Update File:', '*** Add File:', '*** Delete File:'];

/** Where a mail or a fenced block begins or ends. */
export function isAround(reader: DiffReader): boolean {
  return reader.startsWith('```') || reader.atSignature || /^From [0-9a-f]{40} /.test(reader.text());
}

/** Throws for what begins a part that nothing here can apply. */
export function refuseForeign(reader: DiffReader): void {
  if (reader.startsWith('GIT binary patch') || /^Binary files .* differ$/.test(reader.text())) {
    throw invalidDiff(`Binary patches are not supported: line ${reader.lineNumber}`, {
      next: 'Write the whole file instead',
    });
  }
  if (reader.startsWith('diff --cc ') || reader.startsWith('diff --combined ')) throw mergeDiff(reader);
  if (FOREIGN.some((prefix) => reader.startsWith(prefix))) {
    throw invalidDiff(`Not a unified diff: line ${reader.lineNumber}`, {
      next: 'Write --- and +++ lines and hunks that begin with @@ instead of *** lines',
    });
  }
}

export function readExtendedHeader(file: FileFacts, text: string): void {
  if (/^(?:rename|copy) (?:from|to) /.test(text)) {
    throw invalidDiff('Renames and copies are not supported in a patch', {
      next: 'Change the content under one name, and move the file by itself',
    });
  }
  const mode = MODE.exec(text)?.[1];
  if (mode === undefined) return;
  if (!/^[0-7]{6}$/.test(mode)) {
    throw invalidDiff(`Not a file mode: ${safeText(mode)}`, { next: 'Write six octal digits, such as 100644' });
  }
  const bits = Number.parseInt(mode, 8);
  if ((bits & 0o170000) !== REGULAR_FILE) {
    throw invalidDiff(`Only regular files can be patched, not mode ${mode}`, {
      next: 'Leave links and submodules out',
    });
  }
  if (text.startsWith('new file mode')) file.isCreation = true;
  if (text.startsWith('deleted file mode')) file.isDeletion = true;
  if (text.startsWith('new')) file.newMode = bits & 0o777;
}

export function mergeDiff(reader: DiffReader): Error {
  return invalidDiff(`Diffs of merges are not supported: line ${reader.lineNumber}`, {
    next: 'Diff the file against one parent',
  });
}
