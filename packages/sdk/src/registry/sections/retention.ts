/** `retention`: how long the state folder keeps what it holds. */
import { z } from 'zod';
import type { Retention } from '../../contracts/registry.ts';
import { isWritten, type Narrowing } from '../narrowing.ts';
import { defineSection } from '../section.ts';

const days = z.int().min(0).max(36_500);

const schema = z.strictObject({
  records_days: days.default(90).describe('Days after which records move from the journal into archives; 0: never'),
  records_max: z
    .int()
    .min(0)
    .max(1_000_000_000)
    .default(5_000_000)
    .describe('Records the journal holds before the oldest move into archives, about 2 GiB; 0: any number'),
  archives_days: days.default(365).describe('Days after its newest record that an archive is deleted; 0: never'),
  answers_days: days
    .default(30)
    .describe('Days that answers of idempotency keys are repeated; a key used later runs its call again; 0: always'),
  runs_days: days
    .default(90)
    .describe('Days that folders of external runs are kept; the newest 10 of each tool stay; 0: all stay'),
  caches_days: days
    .default(30)
    .describe('Days after its last use that the package cache of a workspace is deleted; 0: never'),
  caches_max_mib: z
    .int()
    .min(0)
    .max(1_000_000_000)
    .default(5120)
    .describe('Size of the package caches of a workspace above which the largest are deleted; 0: any size'),
});

export const retention = defineSection({
  keys: {
    retention: schema.prefault({}).describe('How long the state folder keeps what it holds; applied once a day'),
  },
  build: (written) => ({ retention: written.retention as Retention }),
  narrow: (narrowing) => ({ retention: narrowRetention(narrowing) }),
});

/** Records of a session outlive it, so only the operator decides what is deleted and when. */
function narrowRetention({ host, session, overreach }: Narrowing): Retention {
  for (const key of Object.keys(host.retention) as (keyof Retention)[]) {
    const path = `retention.${key}`;
    if (session.retention[key] === host.retention[key] || !isWritten(session, path)) continue;
    overreach.push({ path, message: `Retention is set by the host: ${path} is ${host.retention[key]}` });
  }
  return host.retention;
}
