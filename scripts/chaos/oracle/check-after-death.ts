/** What must hold whenever a host has died, before and after the next one starts. */
import { setTimeout as pause } from 'node:timers/promises';
import { isAlive, type ProcessFacts, processesAround } from '../host/process-tree.ts';
import { git } from '../stage/plant-repository.ts';
import type { Site } from '../stage/site.ts';
import type { Violations } from '../violations.ts';
import { withJournal } from './open-journal.ts';

/** The kernel takes a moment to end what ran in the sandbox. */
const ORPHAN_WAIT_MS = 3000;

/** What the host had started, or what names its folder, and still runs after it had time to end. */
export async function findOrphans(started: readonly ProcessFacts[], folder: string): Promise<readonly ProcessFacts[]> {
  return untilNone(() => {
    const found = [...started.filter(isAlive), ...processesAround(folder)];
    return [...new Map(found.map((facts) => [facts.pid, facts])).values()];
  });
}

/**
 * A sandbox that was being built when its host died may outlive it, but not the start of the next one. `orphans`: what
 * `findOrphans` found.
 */
export async function checkOrphans(orphans: readonly ProcessFacts[], violations: Violations): Promise<void> {
  const left = await untilNone(() => orphans.filter(isAlive));
  if (left.length > 0) violations.add(`processes outlive the host and the start of the next: ${shownProcesses(left)}`);
}

export function shownProcesses(processes: readonly ProcessFacts[]): string {
  return processes.map(({ pid, name, commandLine }) => `${pid} ${name} (${commandLine.slice(0, 120)})`).join('; ');
}

async function untilNone(look: () => readonly ProcessFacts[]): Promise<readonly ProcessFacts[]> {
  const deadline = performance.now() + ORPHAN_WAIT_MS;
  for (;;) {
    const left = look();
    if (left.length === 0 || performance.now() > deadline) return left;
    await pause(50);
  }
}

export async function checkChain(site: Site, violations: Violations): Promise<void> {
  try {
    const {
      ok,
      broken,
      archives = [],
    } = await withJournal(site, (journal) => journal.verify(undefined, { archives: true }));
    if (!ok) violations.add(`journal of ${site.name} does not verify: record ${broken?.seq}: ${broken?.reason}`);
    for (const { archive, state } of archives) {
      if (state !== 'ok') violations.add(`archive of ${site.name} is ${state}: ${archive}`);
    }
  } catch (thrown) {
    violations.add(`journal of ${site.name} cannot be read: ${thrown}`);
  }
}

/** Right after a start, before the first call: everything that was open has been reported. */
export async function checkReported(site: Site, violations: Violations): Promise<void> {
  const open = await withJournal(site, (journal) => journal.unfinished());
  for (const { call_id, tool } of open) {
    violations.add(`unfinished call was not reported after the restart of ${site.name}: ${call_id} (${tool})`);
  }
}

export function checkRepository(site: Site, violations: Violations): void {
  for (const folder of [site.folder, site.remote]) {
    try {
      git(folder, 'fsck', '--full', '--no-dangling', '--no-progress');
    } catch (thrown) {
      violations.add(
        `git fsck fails in ${folder}: ${String((thrown as { stderr?: string }).stderr ?? thrown).slice(0, 500)}`,
      );
    }
  }
}
