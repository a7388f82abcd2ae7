/**
 * Faults for tests: port calls that fail (the n-th one, or every one from the n-th on), and a journal held by another
 * process.
 *
 * Run an operation with n = 1, 2, 3 … until a run meets no fault; whatever must hold has to hold after each run.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { RuntimeParts } from '../session/compile-session.ts';

export interface FaultPlan {
  /** Counting from 1, over all wrapped ports together. */
  readonly nth: number;
  /** `once`: only that call fails. `onwards`: that one and all later ones. */
  readonly mode: 'once' | 'onwards';
  /** Makes what is thrown; a TypeError unless given. */
  readonly fault?: (() => unknown) | undefined;
}

export interface Faults {
  /** Counts and fails only while armed. */
  armed: boolean;
  /** Port calls made while armed, as `port.method`. */
  readonly calls: string[];
  wrap(parts: RuntimeParts): RuntimeParts;
}

const PORTS = ['journal', 'locks', 'workspace', 'policy', 'budget', 'coordinator', 'ast'] as const;

/** Synchronous look-ups that cannot fail in any adapter. */
const SAFE = new Set([
  'held',
  'head',
  'read',
  'verify',
  'instances',
  'findInstance',
  'close',
  'retire',
  'enroll',
  'covers',
  'spend',
  'unfinished',
]);

export function createFaults(plan: FaultPlan): Faults {
  const faults: Faults = { armed: false, calls: [], wrap: (parts) => wrapPorts(parts, faults, plan) };
  return faults;
}

function wrapPorts(parts: RuntimeParts, faults: Faults, plan: FaultPlan): RuntimeParts {
  const wrapped: Record<string, unknown> = { ...parts };
  for (const port of PORTS) {
    const inner = parts[port];
    if (inner !== undefined) wrapped[port] = failing(inner, port, faults, plan);
  }
  return wrapped as unknown as RuntimeParts;
}

function failing(inner: object, port: string, faults: Faults, plan: FaultPlan): object {
  return new Proxy(inner, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function' || SAFE.has(String(name))) return member;
      return (...args: unknown[]) => {
        if (faults.armed) {
          faults.calls.push(`${port}.${String(name)}`);
          const count = faults.calls.length;
          if (count === plan.nth || (plan.mode === 'onwards' && count > plan.nth)) {
            throw plan.fault === undefined ? new TypeError(`injected fault at ${port}.${String(name)}`) : plan.fault();
          }
        }
        return Reflect.apply(member, target, args);
      };
    },
  });
}

const HOLDER = `
  const { DatabaseSync } = require('node:sqlite');
  const database = new DatabaseSync(process.argv[1], { timeout: 10_000 });
  require('node:readline').createInterface({ input: process.stdin }).on('line', (word) => {
    database.exec(word === 'hold' ? 'BEGIN IMMEDIATE; UPDATE mark SET seq = seq' : 'ROLLBACK');
    console.log(word);
  }).on('close', () => process.exit());`;

export interface JournalHolder {
  readonly pid: number;
  /** Resolves when the lock is held. */
  hold(): Promise<void>;
  /** Resolves when the lock is free. */
  release(): Promise<void>;
  /** Ends the process, stopped or not; the kernel frees its lock. */
  kill(): Promise<void>;
}

/** Another process with the write lock of a journal: a database shell, or a host that was stopped in a transaction. */
export function startJournalHolder(stateFolder: string): JournalHolder {
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
  const child = spawn(process.execPath, ['-e', HOLDER, join(stateFolder, 'journal.db')], {
    env: environment,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  const tell = async (word: string): Promise<void> => {
    child.stdin.write(`${word}\n`);
    await Promise.race([
      once(child.stdout, 'data'),
      ended.then(() => Promise.reject(new TypeError('The holder ended'))),
    ]);
  };
  return {
    pid: child.pid ?? -1,
    hold: () => tell('hold'),
    release: () => tell('release'),
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
