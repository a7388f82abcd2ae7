/** `changes`: change sets of calls, and how much of them the state folder keeps. */
import { z } from 'zod';
import type { ChangeSettings } from '../../contracts/registry.ts';
import { isWritten, type Narrowing } from '../narrowing.ts';
import { defineSection } from '../section.ts';

const schema = z.strictObject({
  record: z
    .boolean()
    .default(true)
    .describe('Whether calls that change files leave a change set, so that they can be shown and undone'),
  days: z.int().min(0).max(36_500).default(30).describe('Days that change sets are kept; 0: always'),
  max_file_mib: z
    .int()
    .min(0)
    .max(1024)
    .default(16)
    .describe('Size of a file above which its content is not kept; such a change cannot be undone'),
  max_mib: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(512)
    .describe('Size of all kept content above which the oldest change sets are deleted'),
  tx_minutes: z
    .int()
    .min(1)
    .max(1440)
    .default(60)
    .describe('Minutes after which a transaction that no call joins is given up'),
  tx_checks: z
    .array(z.string().min(1))
    .default(['build', 'test'])
    .describe(
      'Entries of `commands` that must pass on the staged tree before a transaction is committed; others are skipped',
    ),
});

export const changes = defineSection({
  keys: {
    changes: schema.prefault({}).describe('Change sets of calls: whether they are kept, how long and how much'),
  },
  build: (written) => ({ changes: written.changes as ChangeSettings }),
  narrow: (narrowing) => ({ changes: narrowChanges(narrowing) }),
});

/** Change sets of a session outlive it and are there for others too, so only the operator decides. */
function narrowChanges({ host, session, overreach }: Narrowing): ChangeSettings {
  for (const key of Object.keys(host.changes) as (keyof ChangeSettings)[]) {
    const path = `changes.${key}`;
    if (session.changes[key] === host.changes[key] || !isWritten(session, path)) continue;
    overreach.push({ path, message: `Change sets are set by the host: ${path} is ${host.changes[key]}` });
  }
  return host.changes;
}
