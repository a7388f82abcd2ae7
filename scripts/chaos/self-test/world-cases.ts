/** What is outside the workspace, what is left of a host, what grows. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { openSqliteJournal, openStateFolder } from '@tool-runtime/sdk/parts';
import { childrenOf, sendSignal } from '../host/process-tree.ts';
import { checkCanaries } from '../oracle/canaries.ts';
import { checkChain, checkOrphans, checkReported, checkRepository, findOrphans } from '../oracle/check-after-death.ts';
import { judgeGrowth, type Sample } from '../oracle/growth.ts';
import type { CasePlace, OracleCase } from '../self-test.ts';
import { git } from '../stage/plant-repository.ts';
import { openSite, type Site } from '../stage/site.ts';

function siteIn({ folder }: CasePlace): Site {
  const servers = { allowedPort: 0, canaryPort: 0, hits: new Map(), close() {} };
  const places = {
    folder: join(folder, 'workspace'),
    state: join(folder, 'state'),
    remote: join(folder, 'remote.git'),
  };
  return openSite({ name: 'main', ...places, servers });
}

/** A call that was begun and, by default, ended. */
async function plantJournal(site: Site, { isEnded }: { readonly isEnded: boolean }): Promise<void> {
  const journal = openSqliteJournal(openStateFolder(site.state, { workspace: site.folder }));
  const ids = { call_id: 'call-1', session_id: 'session-1', at_ms: 1, tool: 'file_write', args_hash: 'x' };
  await journal.append([{ kind: 'intent', ...ids, retry_safe: false, instance: 'dead', effect: {} } as never]);
  if (isEnded) await journal.append([{ kind: 'result', ...ids, status: 'completed', files: [], errors: [] } as never]);
  await journal.close();
}

function lives(rise: number): readonly Sample[] {
  return Array.from({ length: 120 }, (_, second) => ({
    atMs: second * 1000,
    // Up and down around the line, as collections make it.
    descriptors: 100 + (second % 7) + rise * second,
    residentBytes: 3e8 + (second % 5) * 1e6,
  }));
}

export const worldCases: readonly OracleCase[] = [
  {
    name: 'a canary that was touched',
    finds: /outside the workspace was touched: canary\.txt/,
    judge({ folder, violations, write }, broken) {
      write('outside/canary.txt', 'as it was\n');
      cpSync(join(folder, 'outside'), join(folder, 'before'), { recursive: true, preserveTimestamps: true });
      if (broken) writeFileSync(join(folder, 'outside/canary.txt'), 'escaped\n');
      checkCanaries(join(folder, 'outside'), join(folder, 'before'), violations);
    },
  },
  {
    name: 'descriptors that rise',
    finds: /descriptors of the host rise/,
    judge: ({ violations }, broken) => void judgeGrowth(lives(broken ? 3 : 0), violations),
  },
  {
    name: 'a process that outlives the host',
    finds: /outlive the host/,
    async judge({ folder, violations }, broken) {
      const parent = spawn('sh', ['-c', `sleep ${broken ? 20 : 1} & exec sleep 60`], { stdio: 'ignore' });
      await pause(300);
      const running = childrenOf(parent.pid ?? -1);
      parent.kill('SIGKILL');
      await once(parent, 'close');
      const orphans = await findOrphans(running, folder);
      await checkOrphans(orphans, violations);
      for (const { pid } of orphans) sendSignal(pid, 'SIGKILL');
    },
  },
  {
    name: 'a journal that somebody changed',
    finds: /does not verify|cannot be read/,
    async judge(place, broken) {
      place.write('workspace/file.txt', '');
      const site = siteIn(place);
      await plantJournal(site, { isEnded: true });
      if (broken) tamper(join(site.state, 'journal.db'));
      await checkChain(site, place.violations);
    },
  },
  {
    name: 'an unfinished call that a restart did not report',
    finds: /was not reported after the restart/,
    async judge(place, broken) {
      place.write('workspace/file.txt', '');
      const site = siteIn(place);
      await plantJournal(site, { isEnded: !broken });
      await checkReported(site, place.violations);
    },
  },
  {
    name: 'a repository with a missing object',
    finds: /git fsck fails/,
    judge(place, broken) {
      const site = siteIn(place);
      place.write('workspace/file.txt', 'text\n');
      execFileSync('git', ['init', '-q', '--bare', site.remote]);
      git(site.folder, 'init', '-q');
      git(site.folder, 'add', '.');
      if (broken) removeObjects(join(site.folder, '.git/objects'));
      checkRepository(site, place.violations);
    },
  },
];

/** Changes one record behind the journal's back. */
function tamper(path: string): void {
  const database = new DatabaseSync(path);
  database.exec("UPDATE block SET body = replace(body, 'call-1', 'call-2')");
  database.close();
}

function removeObjects(folder: string): void {
  for (const name of readdirSync(folder)) if (name.length === 2) rmSync(join(folder, name), { recursive: true });
}
