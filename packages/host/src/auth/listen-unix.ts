/**
 * Listening on a Unix socket that only this user can reach.
 *
 * Node removes the path it bound when the server closes, even if another server has put its socket there since. So the
 * server binds a name of its own, which is then moved to the path: the path appears already closed to others (0600), is
 * never taken from a socket that stands there, and is removed by us alone, and only while it is ours.
 */
import { linkSync, lstatSync, type Stats, unlinkSync } from 'node:fs';
import type { Server } from 'node:net';
import { ToolError } from '@tool-runtime/protocol';
import { errnoCode } from '../ops/errno-code.ts';
import type { PeerReader } from './peer-credentials.ts';
import { draftPath, prepareSocketPath, sameFile } from './socket-path.ts';

export interface UnixListener {
  /** Real path. */
  readonly path: string;
  /** Takes the name away, if it is still ours. Before `server.close()`: until then nothing else has our inode. */
  release(): void;
}

/** What is left of 0777 is 0600. */
const UMASK = 0o177;

/** Throws E_POLICY when the path may not be used; the server is then not listening. */
export async function listenUnix(server: Server, path: string, peers?: PeerReader): Promise<UnixListener> {
  if (process.platform === 'win32') {
    throw new ToolError('E_POLICY', 'Unix sockets are not offered on Windows', { details: { next: 'listen on HTTP' } });
  }
  const real = await prepareSocketPath(path, peers);
  const draft = draftPath(real);
  await bind(server, draft).catch((thrown: unknown) => {
    throw failed(real, thrown);
  });
  try {
    linkSync(draft, real);
  } catch (thrown) {
    server.close();
    throw failed(real, thrown);
  }
  const own = lstatSync(draft);
  unlinkSync(draft);
  return { path: real, release: () => removeOwn(real, own) };
}

function bind(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    // Node binds before `listen` returns, so nothing else of this process is made under the narrow mask.
    const mask = process.umask(UMASK);
    try {
      server.listen(path, () => {
        server.off('error', reject);
        resolve();
      });
    } finally {
      process.umask(mask);
    }
  });
}

function removeOwn(path: string, own: Stats): void {
  if (!sameFile(lstatSync(path, { throwIfNoEntry: false }), own)) return;
  try {
    unlinkSync(path);
  } catch {
    // Gone since the look, or the folder was closed to us: a leftover is cleared at the next start.
  }
}

function failed(path: string, cause: unknown): ToolError {
  return new ToolError('E_POLICY', `Socket cannot be put in place: ${path}`, {
    details: { gate: 'exposure', reason: errnoCode(cause) ?? 'EIO', next: 'try again, or name another socket' },
    cause,
  });
}
