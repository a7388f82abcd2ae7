/** File names in the header lines of a diff: quoted or plain, with or without a time after a tab. */
import { safeText } from '@tool-runtime/protocol/internal';
import { type DiffReader, invalidDiff } from './diff-reader.ts';

const ESCAPES: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': 34, '\\': 92 };
const QUOTED = /^"((?:[^"\\]|\\.)*)"/;
const NO_FILE = '/dev/null';

/** The name after `--- ` or `+++ `; null for `/dev/null`, undefined for none. `text` holds one byte a character. */
export function headerName(text: string): string | null | undefined {
  const name = QUOTED.test(text) ? quotedName(text) : decoded(text.split('\t', 1)[0] ?? '').trimEnd();
  if (name === NO_FILE) return null;
  return name === '' ? undefined : name;
}

/** The names after `diff --git `. Undefined where spaces make them ambiguous: then the other header lines must do. */
export function gitNames(text: string): { readonly oldName: string; readonly newName: string } | undefined {
  const line = text.trimEnd();
  const quoted = QUOTED.exec(line);
  if (quoted !== null) {
    const rest = line.slice(quoted[0].length + 1);
    return { oldName: quotedName(line), newName: rest.startsWith('"') ? quotedName(rest) : decoded(rest) };
  }
  const quote = line.indexOf(' "');
  if (quote !== -1) return { oldName: decoded(line.slice(0, quote)), newName: quotedName(line.slice(quote + 1)) };
  const half = (line.length - 1) / 2;
  const [left, right] = [line.slice(0, half), line.slice(half + 1)];
  const isTwice = line[half] === ' ' && withoutPrefix(left) === withoutPrefix(right);
  if (isTwice) return { oldName: decoded(left), newName: decoded(right) };
  const parts = line.split(' ');
  if (parts.length !== 2) return undefined;
  return { oldName: decoded(parts[0] ?? ''), newName: decoded(parts[1] ?? '') };
}

/** Without the `a/` and `b/` that git puts before names (and `i/`, `w/`, `c/`, `o/` when it is asked to). */
export function withoutPrefix(name: string): string {
  return /^[abciow]\//.test(name) ? name.slice(2) : name;
}

function quotedName(text: string): string {
  const inner = QUOTED.exec(text)?.[1] ?? '';
  const raw = inner.replace(/\\([0-7]{1,3}|.)/g, (whole, code: string) => {
    const byte = /^[0-7]/.test(code) ? Number.parseInt(code, 8) & 0xff : ESCAPES[code];
    return byte === undefined ? whole : String.fromCharCode(byte);
  });
  return decoded(raw);
}

function decoded(oneBytePerCharacter: string): string {
  return Buffer.from(oneBytePerCharacter, 'latin1').toString('utf8');
}

interface FileFacts {
  isCreation: boolean;
  isDeletion: boolean;
  newMode: number | undefined;
}

const MODE = /^(?:old mode|new mode|new file mode|deleted file mode) (.*?)\s*$/;
const REGULAR_FILE = 0o100000;
const FOREIGN = ['*** Begin Patch', '*** Update File:', '*** Add File:', '*** Delete File:'];

/**
 * The lines of a diff that are neither names nor hunks: git's extended headers, other formats, and the text around.
 *
 * Where a mail or a fenced block begins or ends.
 */
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
