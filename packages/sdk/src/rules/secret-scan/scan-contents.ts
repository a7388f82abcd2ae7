/** Findings in the contents of files. Content that was scanned before is not read again, whatever its path. */
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import type { ChangedFile, ChangeSet } from '../../contracts/git.ts';
import type { FindingCache } from '../../contracts/rule.ts';
import type { SecretFinding } from '../../secrets/secret-finding.ts';
import { defaultScanner, SCANNER_VERSION } from './default-scanner.ts';

export interface ScannedFile {
  readonly file: ChangedFile;
  readonly findings: readonly SecretFinding[];
  /** Names of the content by which an exception can be made. */
  readonly hashes: readonly string[];
}

export interface ContentScan {
  readonly scanned: readonly ScannedFile[];
  /** Files whose content could not be read. */
  readonly unread: readonly ChangedFile[];
}

const SUBMODULE = '160000';

export async function scanContents(changes: ChangeSet, cache: FindingCache): Promise<ContentScan> {
  const scanned: ScannedFile[] = [];
  const pending = new Set<ChangedFile>();
  for (const file of await contentsOf(changes)) {
    const findings = recall(cache, file);
    if (findings === undefined) pending.add(file);
    else scanned.push({ file, findings, hashes: hashesOf(file) });
  }
  for await (const { file, bytes } of changes.contents([...pending])) {
    const findings = await defaultScanner.scan({ name: basename(file.path), bytes });
    cache.set(keyOf(file), JSON.stringify(findings));
    scanned.push({ file, findings, hashes: findings.length === 0 ? [] : hashesOf(file, bytes) });
    pending.delete(file);
  }
  // In a work tree files come and go; in git's store a content that is named must be there.
  return { scanned, unread: changes.tree === undefined ? [] : [...pending] };
}

/** What is there at the end, and what was only there on the way. */
async function contentsOf(changes: ChangeSet): Promise<readonly ChangedFile[]> {
  const kept = changes.files.filter(hasContent);
  const known = new Set(kept.map(({ blob }) => blob));
  const passing = (await changes.passing()).filter((file) => hasContent(file) && !known.has(file.blob));
  return [...kept, ...new Map(passing.map((file) => [file.blob, file])).values()];
}

function hasContent({ kind, mode }: ChangedFile): boolean {
  return kind !== 'deleted' && mode !== SUBMODULE;
}

/** The scanner looks at the last part of the name to tell what the content may be. */
function keyOf({ blob, sha256, path }: ChangedFile): string {
  const name = createHash('sha256').update(basename(path)).digest('hex').slice(0, 16);
  return `secrets:${SCANNER_VERSION}:${blob ?? sha256 ?? ''}:${name}`;
}

function recall(cache: FindingCache, file: ChangedFile): readonly SecretFinding[] | undefined {
  if (file.blob === undefined && file.sha256 === undefined) return undefined;
  const kept = cache.get(keyOf(file));
  return kept === undefined ? undefined : (JSON.parse(kept) as SecretFinding[]);
}

/** A file git has not stored yet is known by the hashes it would get, in repositories of either kind. */
function hashesOf({ blob, sha256 }: ChangedFile, bytes?: Uint8Array): readonly string[] {
  if (blob !== undefined) return [blob];
  const header = bytes === undefined ? undefined : `blob ${bytes.length}\0`;
  const made = ['sha1', 'sha256'].flatMap((name) =>
    header === undefined || bytes === undefined ? [] : [createHash(name).update(header).update(bytes).digest('hex')],
  );
  return sha256 === undefined ? made : [...made, sha256];
}
