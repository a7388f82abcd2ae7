/**
 * What an operator has reviewed of the files a workspace brings along, by content: one content for each file.
 *
 * Any edit makes a file untrusted again, and so does going back to a content that was trusted before. The text that was
 * trusted last is kept, so that the next decision can show the difference.
 */
import type { StateFolder } from '../platform/state/state-folder.ts';
import { MAX_REGISTRY_BYTES } from './problems.ts';

/** Versions before 2 kept a list of digests here, without files or order: it trusts nothing any more. */
const FILE = 'trusted-registries.json';
const VERSION = 2;

export interface TrustedContent {
  /** Lower-case hex. */
  readonly sha256: string;
  /** Null when it was too large to be kept. */
  readonly text: string | null;
}

interface Entry extends TrustedContent {
  readonly is_trusted: boolean;
}

type Entries = Readonly<Record<string, Entry>>;

/** Files are named relative to the workspace. */
export interface TrustList {
  has(file: string, sha256: string): boolean;
  /** The content that was trusted last, revoked since or not. */
  last(file: string): TrustedContent | undefined;
  /** Takes the place of the content that was trusted before. */
  trust(file: string, content: { readonly sha256: string; readonly text: string }): void;
  /** False when no content of the file is trusted. */
  revoke(file: string): boolean;
}

export function openTrustList(state: Pick<StateFolder, 'readText' | 'writeText'>): TrustList {
  const read = (): Entries => parseEntries(state.readText(FILE));
  const write = (files: Entries): void =>
    state.writeText(FILE, `${JSON.stringify({ version: VERSION, files }, null, 2)}\n`);
  return {
    has(file, sha256) {
      const entry = read()[file];
      return entry?.is_trusted === true && entry.sha256 === sha256;
    },
    last: (file) => read()[file],
    trust(file, { sha256, text }) {
      const kept = Buffer.byteLength(text) <= MAX_REGISTRY_BYTES ? text : null;
      write({ ...read(), [file]: { sha256, text: kept, is_trusted: true } });
    },
    revoke(file) {
      const entries = read();
      const entry = entries[file];
      if (entry?.is_trusted !== true) return false;
      write({ ...entries, [file]: { ...entry, is_trusted: false } });
      return true;
    },
  };
}

/** A damaged list trusts nothing. */
function parseEntries(text: string | undefined): Entries {
  let value: unknown;
  try {
    value = JSON.parse(text ?? 'null');
  } catch {
    return {};
  }
  if (!isRecord(value) || value['version'] !== VERSION || !isRecord(value['files'])) return {};
  return Object.fromEntries(Object.entries(value['files']).filter((pair): pair is [string, Entry] => isEntry(pair[1])));
}

function isEntry(value: unknown): value is Entry {
  if (!isRecord(value)) return false;
  const { sha256, text, is_trusted } = value;
  return typeof sha256 === 'string' && (typeof text === 'string' || text === null) && typeof is_trusted === 'boolean';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
