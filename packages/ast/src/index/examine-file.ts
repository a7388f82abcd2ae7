/** Looks at one file and says what it means for the index, reading the content only when its stamp is not the known one. */
import { isToolError } from '@tool-runtime/protocol';
import type { Workspace } from '@tool-runtime/sdk';
import type { SkipReason } from '../contracts/code-index-contract.ts';
import { PARSE_LIMITS } from '../parse/limits.ts';
import { type FileCard, type FileStat, isSameStamp, type Stamp, stampOf } from './file-card.ts';
import type { LanguageFinder } from './language-finder.ts';

export interface FoundContent {
  readonly path: string;
  readonly language: string;
  readonly parser: string;
  readonly stamp: Stamp;
  readonly sha256: string;
  readonly bytes: Uint8Array;
  /** Counts reads: a later read wins. */
  readonly ticket: number;
}

export type Examined =
  | { readonly is: 'content'; readonly content: FoundContent }
  | { readonly is: 'unchanged'; readonly card: FileCard; readonly stamp: Stamp; readonly ticket: number }
  /** Known and as it was, by its stamp. */
  | { readonly is: 'untouched'; readonly card: FileCard }
  /** Is one for the index, and cannot be parsed. */
  | { readonly is: 'skipped'; readonly reason: SkipReason; readonly content: FoundContent | undefined }
  /** Not there, no regular file, or in no known language. */
  | { readonly is: 'absent'; readonly ticket: number };

export interface ExamineParts {
  readonly workspace: Workspace;
  readonly languages: LanguageFinder;
  /** Numbers for reads, ascending. */
  ticket(): number;
}

const NO_BYTES = new Uint8Array(0);

/** `card` is what is known of the file; leave it out to read the content regardless of its stamp. */
export async function examineFile(path: string, card: FileCard | undefined, parts: ExamineParts): Promise<Examined> {
  const { workspace, languages } = parts;
  const ticket = parts.ticket();
  const stat = await statOf(workspace, path);
  if (stat?.type !== 'file') return { is: 'absent', ticket };
  const language = await languages.find(path, stat);
  if (language === undefined) return { is: 'absent', ticket };
  const parser = languages.parserKey(language);
  const known = card?.language === language && card.parser === parser ? card : undefined;
  if (known !== undefined && isSameStamp(known.stamp, stat)) return { is: 'untouched', card: known };
  const found = { path, language, parser, stamp: stampOf(stat, Date.now()), ticket };
  if (stat.size > PARSE_LIMITS.maxFileBytes) {
    return { is: 'skipped', reason: 'too_large', content: { ...found, sha256: '', bytes: NO_BYTES } };
  }
  return readContent(found, known, workspace);
}

async function readContent(
  found: Omit<FoundContent, 'sha256' | 'bytes'>,
  known: FileCard | undefined,
  workspace: Workspace,
): Promise<Examined> {
  try {
    const { bytes, sha256 } = await workspace.readFile(found.path);
    if (known?.sha256 === sha256) return { is: 'unchanged', card: known, stamp: found.stamp, ticket: found.ticket };
    return { is: 'content', content: { ...found, sha256, bytes } };
  } catch (thrown) {
    if (!isToolError(thrown)) throw thrown;
    return { is: 'skipped', reason: 'unreadable', content: undefined };
  }
}

/** A name that may not be looked at is as good as none. */
export async function statOf(workspace: Workspace, path: string): Promise<FileStat | null> {
  try {
    return await workspace.stat(path);
  } catch (thrown) {
    if (!isToolError(thrown)) throw thrown;
    return null;
  }
}
