/**
 * Keeps a state folder from filling the disk: old records move into archives, and what is older than the operator wants
 * is deleted. Every deletion is on record first or with it. At most once a day for a folder, across processes.
 */
import type { Registry } from './contracts/registry.ts';
import type { DailyStamp } from './platform/state/state-file.ts';
import type { RuntimeParts } from './session/compile-session.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const LOOK_EVERY_MS = 60 * 60 * 1000;
/** Fewer are not worth an archive of their own. */
const MIN_RECORDS = 1000;
/** Of each external tool so many runs stay, however old. */
const KEEP_RUNS = 10;
const MAX_NAMES = 100;
/** How long a program that is about to end may take for it; the next one goes on. */
const LAST_CHANCE_MS = 2000;

export interface RetentionSetting {
  readonly parts: Pick<RuntimeParts, 'journal' | 'clock' | 'changes' | 'sealedArgs'>;
  readonly registry: Registry;
  readonly state: string;
  readonly stamp: DailyStamp;
}

export interface Retention {
  /** Before the journal is closed, when the answers are given. */
  finish(): Promise<void>;
}

/** A failure is `report`ed; nothing is lost by it, and the next day tries again. */
export function keepRetention(setting: RetentionSetting, report: (thrown: unknown) => void): Retention {
  let running: Promise<void> | undefined;
  const applyIfDue = async (): Promise<void> => {
    if (setting.stamp.takeDay(setting.parts.clock.now())) await applyRetention(setting);
  };
  const runIfDue = (): Promise<void> => {
    running ??= applyIfDue()
      .catch(report)
      .finally(() => {
        running = undefined;
      });
    return running;
  };
  const timer = setInterval(() => void runIfDue(), LOOK_EVERY_MS).unref();
  return {
    async finish() {
      clearInterval(timer);
      const enough = Promise.withResolvers<void>();
      const limit = setTimeout(enough.resolve, LAST_CHANCE_MS);
      await Promise.race([runIfDue(), enough.promise]);
      clearTimeout(limit);
    },
  };
}

export async function applyRetention({ parts, registry, state }: Omit<RetentionSetting, 'stamp'>): Promise<void> {
  const { journal, clock } = parts;
  const { records_days, records_max, archives_days, answers_days, runs_days, ...caches } = registry.retention;
  if (records_days > 0) await journal.rotate({ before: clock.now() - records_days * DAY_MS, minRecords: MIN_RECORDS });
  if (records_max > 0) await journal.rotate({ keepRecords: records_max, minRecords: MIN_RECORDS });
  await journal.prune({
    ...(archives_days > 0 ? { archivesOlderThanMs: archives_days * DAY_MS } : {}),
    ...(answers_days > 0 ? { answersOlderThanMs: answers_days * DAY_MS } : {}),
  });
  if (runs_days > 0) await removeRuns({ parts, registry, state }, runs_days * DAY_MS);
  const { days } = registry.changes;
  parts.changes.store.prune(days > 0 ? { beforeMs: clock.now() - days * DAY_MS } : {});
  const sealedDays = registry.sealedArgs.days;
  if (sealedDays > 0) parts.sealedArgs.prune(clock.now() - sealedDays * DAY_MS);
  const { pruneCaches } = await import('./platform/files/prune-caches.ts');
  await pruneCaches(state, {
    ...(caches.caches_days > 0 ? { usedBeforeMs: clock.now() - caches.caches_days * DAY_MS } : {}),
    ...(caches.caches_max_mib > 0 ? { maxBytes: caches.caches_max_mib * 1024 * 1024 } : {}),
  });
}

async function removeRuns(
  { parts, registry, state }: Omit<RetentionSetting, 'stamp'>,
  olderThanMs: number,
): Promise<void> {
  const { pruneRuns } = await import('./external/inspect/prune-runs.ts');
  const which = { state, registry, olderThanMs, keep: KEEP_RUNS, now: parts.clock.now() };
  const { removed } = await pruneRuns({ ...which, dryRun: true });
  if (removed.length === 0) return;
  await parts.journal.append([
    {
      kind: 'rotation',
      event: 'runs_removed',
      at_ms: parts.clock.now(),
      runs: removed.slice(0, MAX_NAMES),
      runs_total: removed.length,
    },
  ]);
  await pruneRuns(which);
}
