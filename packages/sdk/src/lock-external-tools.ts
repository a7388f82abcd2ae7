/**
 * Locks the external tools of a registry: writes `tool-runtime.lock` and trusts what was written, or only says what
 * would change.
 *
 * Nothing is added to a lock that is not trusted yet: its other entries would be trusted along with the new one.
 */
import { isToolError, ToolError } from '@tool-runtime/protocol';
import { type ExternalToolSettings, LOCK_FILE, type LockFile } from './contracts/external.ts';
import { policyDenial } from './contracts/failures.ts';
import type { Registry } from './contracts/registry.ts';
import { type LockChange, parseLockFile, serializeLockFile } from './external/lock/lock-file.ts';
import type { LockMetadata } from './external/lock/make-lock.ts';
import { EXTERNAL_LIMITS } from './external/protocol/protocol-constants.ts';
import { governingPlaces, type LockPlace, lockPlace } from './governing-places.ts';
import { readOperatorFile } from './platform/descriptors/file-content.ts';
import { realPath } from './platform/descriptors/trace-path.ts';
import { sha256Hex } from './platform/digest.ts';
import { writeLockText } from './platform/runs/lock-text.ts';
import { defaultStateFolder, openStateFolder, type StateFolder } from './platform/state/state-folder.ts';
import { openTrustList } from './registry/trust-list.ts';

export interface LockOptions {
  readonly workspace: string;
  readonly state?: string;
  /** In force: that of an open runtime. */
  readonly registry: Registry;
  /** The file the operator's registry was read from, when it was one. */
  readonly registryFile?: string;
  /** Which tools; all of the registry's when left out. */
  readonly tools?: readonly string[];
  /** Tool → what only the operator knows about it. */
  readonly metadata?: Readonly<Record<string, LockMetadata>>;
  /** Writes nothing. A missing program is reported like any other difference. */
  readonly check?: boolean;
  readonly signal?: AbortSignal;
}

export interface LockReport {
  readonly path: string;
  readonly sha256: string;
  readonly locked: readonly string[];
  /** One for each of them. */
  readonly changes: readonly LockChange[];
  /** Whether the existing lock counts; false without one. */
  readonly isTrusted: boolean;
  readonly lock: LockFile;
}

interface Existing {
  readonly text: string;
  readonly lock: LockFile;
}

/**
 * Throws E_VALIDATION_FAIL for a name that is not listed and for a lock that cannot be read, E_POLICY for one that is not
 * trusted, and a refusal for a program that is not there; nothing is written then.
 */
export async function lockExternalTools(options: LockOptions): Promise<LockReport> {
  const { workspace, registryFile } = options;
  const state = openStateFolder(options.state ?? defaultStateFolder(workspace, process.env), { workspace });
  const place = lockPlace({ workspace, state: state.path, registryFile });
  const { path, isTrusted } = place;
  const existing = readExisting(path);
  const isKnown = existing !== undefined && isTrusted(sha256Hex(existing.text));
  if (existing !== undefined && !isKnown && options.check !== true) throw notTrusted();
  // Loads the sandbox: too much for programs that import the package and lock nothing.
  const { lockTools } = await import('./external/lock-tools.ts');
  const { lock, changes } = await lockTools(chooseTools(options), {
    ...options,
    state: state.path,
    root: realPath(workspace),
    governing: governingPlaces({ workspace, state: state.path, registryFile, added: [] }),
    path,
    existing: existing?.lock,
  });
  const text = serializeLockFile(lock);
  if (options.check !== true && changes.length > 0) write(place, text, state);
  return {
    path,
    sha256: sha256Hex(text),
    locked: changes.map(({ tool }) => tool),
    changes,
    isTrusted: isKnown || (options.check !== true && changes.length > 0),
    lock,
  };
}

function write({ path, trustedAs }: LockPlace, text: string, state: StateFolder): void {
  parseLockFile(text);
  writeLockText(path, text);
  if (trustedAs !== undefined) openTrustList(state).trust(trustedAs, { sha256: sha256Hex(text), text });
}

function chooseTools({ registry, tools }: LockOptions): readonly ExternalToolSettings[] {
  const listed = registry.externalTools.filter(({ command }) => command !== '');
  if (tools === undefined) return listed;
  return tools.map((name) => {
    const settings = listed.find((tool) => tool.name === name);
    if (settings !== undefined) return settings;
    throw new ToolError('E_VALIDATION_FAIL', `External tool is not in the registry: ${name}`, {
      details: { reason: 'unknown_tool', next: 'list it in external_tools' },
    });
  });
}

function readExisting(path: string): Existing | undefined {
  try {
    const text = readOperatorFile(path, { maxBytes: EXTERNAL_LIMITS.lockBytes });
    return { text, lock: parseLockFile(text) };
  } catch (thrown) {
    if (isToolError(thrown) && thrown.details['reason'] === 'ENOENT') return undefined;
    throw thrown;
  }
}

function notTrusted(): ToolError {
  return policyDenial(`Lock of the workspace is not trusted: ${LOCK_FILE}`, {
    path: LOCK_FILE,
    details: { reason: 'lock_not_trusted', next: 'review it, then run: tool-runtime trust; or delete it' },
  });
}
