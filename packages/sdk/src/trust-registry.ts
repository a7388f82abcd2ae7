/** Trusting what lies in a workspace and decides what may run, the registry and the lock, by content; and taking it back. */
import { dirname, join, relative, resolve } from 'node:path';
import { ToolError } from '@tool-runtime/protocol';
import { LOCK_FILE } from './contracts/external.ts';
import { openRoot } from './platform/descriptors/root.ts';
import { realPath } from './platform/descriptors/trace-path.ts';
import { sha256Hex } from './platform/digest.ts';
import { createWorkspace } from './platform/files/workspace.ts';
import { defaultStateFolder, openStateFolder } from './platform/state/state-folder.ts';
import { openTrustList, type TrustList } from './registry/trust-list.ts';
import { REGISTRY_FILE } from './registry-in-force.ts';
import { lineDiff } from './text/line-diff.ts';

export interface TrustTarget {
  readonly workspace: string;
  readonly state?: string;
  /** The operator's registry, when it is a file: the lock beside it may lie in the workspace too. */
  readonly registry?: string;
}

export interface WorkspaceFile {
  /** Relative to the workspace root. */
  readonly file: string;
  readonly sha256: string;
}

export interface TrustedFile extends WorkspaceFile {
  readonly bytes: number;
  readonly lines: number;
  /** Of the content that was trusted last; null the first time. */
  readonly previous: string | null;
  /** From the content that was trusted last, or from nothing; null when that one was too large to be kept. */
  readonly diff: string | null;
}

/** Both files, as far as they are there; at least one must be. Each content replaces the one that was trusted before. */
export async function trustWorkspaceFiles(target: TrustTarget): Promise<readonly TrustedFile[]> {
  const found = await presentFiles(target);
  if (found.length === 0) throw noRegistry();
  const list = trustListOf(target);
  return found.map(({ file, sha256, text }) => {
    const last = list.last(file);
    list.trust(file, { sha256, text });
    return {
      file,
      sha256,
      bytes: Buffer.byteLength(text),
      lines: text.split('\n').length - (text.endsWith('\n') || text === '' ? 1 : 0),
      previous: last?.sha256 ?? null,
      diff: last?.text === null ? null : lineDiff(last?.text ?? '', text),
    };
  });
}

/** Returns those that were trusted, in whatever content. */
export async function revokeWorkspaceFiles(target: TrustTarget): Promise<readonly WorkspaceFile[]> {
  const found = await presentFiles(target);
  if (found.length === 0) throw noRegistry();
  const list = trustListOf(target);
  return found.filter(({ file }) => list.revoke(file)).map(({ file, sha256 }) => ({ file, sha256 }));
}

/** Returns the SHA-256 of the registry that is trusted from now on, the lock with it. */
export async function trustWorkspaceRegistry(target: TrustTarget): Promise<string> {
  const found = await presentFiles(target);
  const registry = found.find(({ file }) => file === REGISTRY_FILE);
  if (registry === undefined) throw noRegistry();
  await trustWorkspaceFiles(target);
  return registry.sha256;
}

/** Returns whether the registry was trusted. */
export async function revokeWorkspaceRegistry(target: TrustTarget): Promise<boolean> {
  const found = await presentFiles(target);
  if (!found.some(({ file }) => file === REGISTRY_FILE)) throw noRegistry();
  const revoked = await revokeWorkspaceFiles(target);
  return revoked.some(({ file }) => file === REGISTRY_FILE);
}

function trustListOf({ workspace, state }: TrustTarget): TrustList {
  return openTrustList(openStateFolder(state ?? defaultStateFolder(workspace, process.env), { workspace }));
}

interface PresentFile extends WorkspaceFile {
  readonly text: string;
}

async function presentFiles({ workspace, registry }: TrustTarget): Promise<readonly PresentFile[]> {
  const files = createWorkspace(openRoot(workspace), {});
  try {
    const found: PresentFile[] = [];
    for (const file of new Set([REGISTRY_FILE, LOCK_FILE, ...lockBeside(workspace, registry)])) {
      if ((await files.stat(file)) === null) continue;
      const { bytes } = await files.readFile(file);
      // The mark stays in the text, so that what is shown is what is hashed.
      found.push({ file, sha256: sha256Hex(bytes), text: new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes) });
    }
    return found;
  } finally {
    files.close();
  }
}

/** Outside the workspace it is the operator's own word, and trusted as such. */
function lockBeside(workspace: string, registry: string | undefined): string[] {
  if (registry === undefined) return [];
  const folder = relative(realPath(workspace), realPath(dirname(resolve(registry))));
  return folder === '..' || folder.startsWith('../') ? [] : [join(folder, LOCK_FILE)];
}

function noRegistry(): ToolError {
  return new ToolError('E_FILE_IO', `Workspace has no registry: ${REGISTRY_FILE}`, { path: REGISTRY_FILE });
}
