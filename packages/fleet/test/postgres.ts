/**
 * A PostgreSQL of its own, on a Unix socket in a folder of the test. It refuses to run as root, so then it runs as its
 * own user.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';

const HOME = '/usr/lib/postgresql';

export interface TestDatabase {
  readonly url: string;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export async function startDatabase(t: Pick<TestContext, 'after'>): Promise<TestDatabase> {
  const [version = ''] = readdirSync(HOME).toSorted((one, other) => Number(other) - Number(one));
  const program = (name: string): string => path.join(HOME, version, 'bin', name);
  const folder = mkdtempSync(path.join(os.tmpdir(), 'pg-'));
  const data = path.join(folder, 'data');
  mkdirSync(data);
  const identity = identityOf();
  if (identity.uid !== undefined) for (const place of [folder, data]) chownSync(place, identity.uid, identity.gid);
  execFileSync(program('initdb'), ['-D', data, '-U', 'tester', '-A', 'trust', '--no-sync'], {
    ...identity,
    cwd: folder,
    stdio: 'ignore',
  });
  let running: ChildProcess | undefined;
  const database: TestDatabase = {
    url: `postgres://tester@${encodeURIComponent(folder)}/postgres`,
    async start() {
      const child = spawn(
        program('postgres'),
        ['-D', data, '-k', folder, '-c', 'listen_addresses=', '-c', 'fsync=off'],
        { ...identity, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
      );
      running = child;
      await new Promise<void>((resolve, reject) => {
        let said = '';
        child.stderr.on('data', (chunk) => {
          said += String(chunk);
          if (said.includes('ready to accept connections')) resolve();
        });
        child.once('exit', () => reject(new Error(`postgres ended:\n${said}`)));
      });
    },
    async stop() {
      const child = running;
      running = undefined;
      if (child === undefined || child.exitCode !== null) return;
      child.kill('SIGINT');
      await new Promise((resolve) => child.once('exit', resolve));
    },
  };
  t.after(async () => {
    await database.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  await database.start();
  return database;
}

function identityOf(): { readonly uid?: number; readonly gid: number } | { readonly uid?: undefined } {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}
