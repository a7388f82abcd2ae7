/**
 * secrets.scan: nothing that looks like a secret gets into a commit, be it in a content, a link, a file name or the message.
 *
 * Contents are read from git's store, whole, so no attribute or encoding hides a line. A finding says where and of which
 * kind, and never what; exceptions stand in the operator's registry and nowhere in the scanned text.
 */
import type { ChangedFile, ChangeSet } from '../contracts/git.ts';
import { defineRule, type Violation } from '../contracts/rule.ts';
import type { SecretFinding } from '../secrets/secret-finding.ts';
import type { ScannedFile } from './secret-scan/scan-contents.ts';

const MAX_VIOLATIONS = 100;
/** Values of these kinds can be short enough to be guessed from their hash: an exception names their blob. */
const GUESSABLE = new Set(['basic-auth-url', 'database-url', 'known-secret']);

export const secretsScan = defineRule({
  id: 'secrets.scan',
  category: 'Security',
  description: 'Nothing that looks like a secret in contents, links, file names or the message of a commit',
  phase: 'on-commit',
  trigger: 'on commit',
  defaultEnforcement: 'blocking',
  byContent: true,
  appliesTo: ({ git }) => git !== undefined,
  async check(_subject, { changeSet, cache, registry }) {
    const [changes, { scanContents }, { defaultScanner }] = await Promise.all([
      changeSet(),
      import('./secret-scan/scan-contents.ts'),
      import('./secret-scan/default-scanner.ts'),
    ]);
    const allowed = new Set(registry.secrets.allow);
    const scanText: ScanText = async (name, text) =>
      (await defaultScanner.scanText(name, text)).filter(({ fingerprint }) => !allowed.has(fingerprint));
    const names = await scanNames(changes, scanText);
    const { scanned, unread } = await scanContents(changes, cache);
    const shown = (file: ChangedFile) => (names.has(file) ? undefined : file.path);
    return [
      ...(await scanMessage(changes, scanText)),
      ...[...names.values()].flat().map(inName),
      ...unread.map((file) => notRead(shown(file))),
      ...scanned.flatMap((entry) => inContent(entry, shown(entry.file), allowed)),
    ].slice(0, MAX_VIOLATIONS);
  },
});

type ScanText = (name: string, text: string) => Promise<readonly SecretFinding[]>;

/** All names as one text, a line each; what is found in a line is found in that file's name. */
async function scanNames(
  { files }: ChangeSet,
  scanText: ScanText,
): Promise<ReadonlyMap<ChangedFile, readonly SecretFinding[]>> {
  const kept = files.filter(({ kind }) => kind !== 'deleted');
  const found = new Map<ChangedFile, SecretFinding[]>();
  const text = kept.map(({ path }) => path.replaceAll('\n', ' ')).join('\n');
  for (const finding of await scanText('names', text)) {
    const file = kept[finding.line - 1];
    if (file !== undefined) found.set(file, [...(found.get(file) ?? []), finding]);
  }
  return found;
}

async function scanMessage({ message }: ChangeSet, scanText: ScanText): Promise<readonly Violation[]> {
  const findings = message === undefined ? [] : await scanText('message', message);
  return findings.map((finding) => ({
    message: `Secret in the commit message (${finding.message}): line ${finding.line}`,
    next: 'remove it from the message, and revoke it if it was ever published',
    details: { ...factsOf(finding), place: 'message' },
  }));
}

/** The name would be the secret: it is not given. */
function inName(finding: SecretFinding): Violation {
  return {
    message: `Secret in a file name (${finding.message})`,
    next: 'rename the file, and revoke the secret if it was ever published',
    details: { kind: finding.rule, place: 'name', ...fingerprintOf(finding) },
  };
}

function inContent(
  { file, findings, hashes }: ScannedFile,
  path: string | undefined,
  allowed: ReadonlySet<string>,
): readonly Violation[] {
  if (hashes.some((hash) => allowed.has(hash))) return [];
  const isLink = file.mode === '120000';
  return findings
    .filter(({ fingerprint }) => !allowed.has(fingerprint))
    .map((finding) => ({
      message: `Secret in ${isLink ? 'a link' : 'a file'} (${finding.message}): ${place(path, finding)}`,
      ...(path === undefined ? {} : { path }),
      line: finding.line,
      next: 'remove it, and revoke it if it was ever published; only the operator can make an exception, in secrets.allow',
      details: { ...factsOf(finding), place: isLink ? 'link' : 'content', blob: hashes[0] ?? null },
    }));
}

function notRead(path: string | undefined): Violation {
  return {
    message: `Content could not be read: ${path ?? 'a file whose name holds a secret'}`,
    ...(path === undefined ? {} : { path }),
    next: 'fetch what is missing in the object store, then try again',
    details: { reason: 'unread' },
  };
}

function place(path: string | undefined, { line }: SecretFinding): string {
  return `${path ?? 'a file whose name holds a secret'}:${line}`;
}

function factsOf(finding: SecretFinding) {
  return { kind: finding.rule, column: finding.column, ...fingerprintOf(finding) };
}

function fingerprintOf({ rule, fingerprint }: SecretFinding) {
  return GUESSABLE.has(rule) ? {} : { fingerprint };
}
