/**
 * `host.json` in the state folder: where the host of this folder is to be found, for `status`, `stop` and clients.
 *
 * The file only informs. That there is one host per state folder is kept by a lock beside it, which the kernel drops
 * with the process: a file left by a killed host is never in the way, and a reused process number never blocks a start.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ToolError } from '@tool-runtime/protocol';
import { currentInstance, isAlive } from '@tool-runtime/sdk/parts';
import { holdLock } from './hold-lock.ts';
import { readPrivateFile, replacePrivateFile } from './private-file.ts';

export interface HostAddress {
  /** `http://127.0.0.1:7777`; absent when it does not listen there. */
  readonly http?: string;
  readonly socket?: string;
  readonly tokenFile?: string;
  /** What its answers depend on, when they are those of a command with the same; see host-basis.ts. */
  readonly basis?: string;
}

export interface HostFile extends HostAddress {
  readonly pid: number;
  /** Tells this process from a later one of the same number. */
  readonly birth: string;
  readonly version: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
}

export interface FoundHost extends HostFile {
  readonly isRunning: boolean;
}

export interface HostClaim {
  /** Writes or rewrites the file, once the addresses are known. */
  publish(address: HostAddress): void;
  /** Removes the file, if it is ours, and lets the next host start. */
  release(): void;
}

const FILE = 'host.json';
const LOCK = 'host.lock';
const MAX_BYTES = 64 * 1024;

/**
 * Makes this process the host of the state folder, or throws E_POLICY because another one is. Before the journal is
 * opened, so that no two hosts ever reconcile it.
 */
export function claimState(state: string, { version, now }: { version: string; now: () => number }): HostClaim {
  mkdirSync(state, { recursive: true, mode: 0o700 });
  const path = join(state, FILE);
  const lock = holdLock(join(state, LOCK));
  if (lock === undefined) throw alreadyRunning(state);
  const { pid, birth } = currentInstance();
  const startedAt = now();
  return {
    publish(address) {
      replacePrivateFile(path, formatHostFile({ pid, birth, ...address, version, startedAt }));
    },
    release() {
      try {
        // Under the lock no other process writes it, so what is read here is what is removed.
        const found = parse(readPrivateFile(path, { maxBytes: MAX_BYTES })?.text);
        if (found?.pid === pid && found.birth === birth) rmSync(path, { force: true });
      } finally {
        lock.release();
      }
    },
  };
}

/** Undefined when there is no host file, or none that can be understood. E_POLICY when it is not private. */
export function readHostFile(state: string): FoundHost | undefined {
  const found = parse(readPrivateFile(join(state, FILE), { maxBytes: MAX_BYTES })?.text);
  if (found === undefined) return undefined;
  return { ...found, isRunning: isAlive({ id: '', pid: found.pid, birth: found.birth }) };
}

function formatHostFile({ pid, birth, http, socket, tokenFile, basis, version, startedAt }: HostFile): string {
  const started = new Date(startedAt).toISOString();
  const record = { pid, birth, http, socket, token_file: tokenFile, basis, version, started_at: started };
  return `${JSON.stringify(record, null, 2)}\n`;
}

function parse(text: string | undefined): HostFile | undefined {
  const { pid, birth, http, socket, token_file, basis, version, started_at } = parseRecord(text ?? '');
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid <= 0) return undefined;
  if (typeof birth !== 'string' || typeof version !== 'string' || typeof started_at !== 'string') return undefined;
  return {
    pid,
    birth,
    ...(typeof http === 'string' ? { http } : {}),
    ...(typeof socket === 'string' ? { socket } : {}),
    ...(typeof token_file === 'string' ? { tokenFile: token_file } : {}),
    ...(typeof basis === 'string' ? { basis } : {}),
    version,
    startedAt: Date.parse(started_at),
  };
}

type Member = 'pid' | 'birth' | 'http' | 'socket' | 'token_file' | 'basis' | 'version' | 'started_at';

function parseRecord(text: string): { readonly [name in Member]?: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    // Empty or damaged: the next host writes it anew.
    return {};
  }
}

function alreadyRunning(state: string): ToolError {
  const found = readHostFile(state);
  const who = found?.isRunning === true ? ` as process ${found.pid}` : '';
  const where = found?.http ?? found?.socket;
  return new ToolError('E_POLICY', `A host runs on this state folder already${who}: ${state}`, {
    details: {
      gate: 'host',
      reason: 'already_running',
      ...(found?.isRunning === true ? { pid: found.pid } : {}),
      ...(where === undefined ? {} : { address: where }),
      next: 'use it, end it with: tool-runtime stop, or name another folder with --state',
    },
  });
}
