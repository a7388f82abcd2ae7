/** Keeps the journals of a long-running host small: what is older than wanted moves into archives, now and every hour. */
import type { Host } from './create-host.ts';

const EVERY_MS = 60 * 60 * 1000;
/** Fewer are not worth an archive of their own. */
const MIN_RECORDS = 1000;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Does nothing without `keepDays`. The returned function ends it. */
export function keepRotating(host: Host, { keepDays }: { readonly keepDays: number | undefined }): () => void {
  if (keepDays === undefined) return () => {};
  const rotate = async (): Promise<void> => {
    for (const { runtime, path } of host.workspaces.all) {
      try {
        const report = await runtime.rotateJournal({ before: Date.now() - keepDays * DAY_MS, minRecords: MIN_RECORDS });
        if (report.records > 0) host.log.info('journal_rotated', { workspace: path, ...report });
      } catch (error) {
        host.log.error('journal_rotation_failed', { workspace: path, error });
      }
    }
  };
  void rotate();
  const timer = setInterval(() => void rotate(), EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}
