/** `limits`: limits of the runtime. A session can lower them. */
import { z } from 'zod';
import type { Limits } from '../../contracts/registry.ts';
import { isWithin, type Narrowing } from '../narrowing.ts';
import { defineSection } from '../section.ts';
import { milliseconds } from '../texts.ts';

const schema = z.strictObject({
  max_in_flight: z.int().min(1).max(10_000).default(32).describe('Calls of one session that may run at the same time'),
  lock_wait_ms: z.int().min(0).max(3_600_000).default(10_000).describe('Longest wait for a lock'),
  max_request_bytes: z.int().min(1024).max(67_108_864).default(8_388_608).describe('Largest request'),
  approval_timeout_ms: milliseconds.default(120_000).describe('How long an approval may stay unanswered'),
  max_jobs: z.int().min(0).max(1000).default(16).describe('Jobs of one session that may run at the same time'),
  max_workspace_jobs: z
    .int()
    .min(0)
    .max(10_000)
    .default(64)
    .describe('Jobs of all sessions of the workspace that may run at the same time; the operator sets it'),
  max_answer_tokens: z
    .int()
    .min(1000)
    .max(100_000)
    .default(25_000)
    .describe(
      'Longest text of one answer for a model, in tokens of four bytes; what is left out is named, with the call that gets it',
    ),
  max_kept_jobs: z
    .int()
    .min(0)
    .max(1000)
    .default(0)
    .describe(
      'Jobs of all sessions that may outlive theirs (keep of shell_exec), until their deadline or the end of the runtime; default: none',
    ),
  max_commands: z
    .int()
    .min(1)
    .max(1000)
    .exactOptional()
    .describe(
      'Commands of all sessions of the workspace that may run at the same time, jobs not counted; further ones wait, the sessions by turns. Left out: twice the number of processor cores, at least 4. The operator sets it',
    ),
});

export const limits = defineSection({
  keys: { limits: schema.prefault({}).describe('Limits of the runtime') },
  build: (written) => ({ limits: written.limits as Limits }),
  narrow: (narrowing) => ({ limits: narrowLimits(narrowing) }),
});

function narrowLimits(narrowing: Narrowing): Limits {
  const lower = (key: Exclude<keyof Limits, 'max_commands'>): number => {
    const [own, limit] = [narrowing.session.limits[key], narrowing.host.limits[key]];
    return isWithin(narrowing, { path: `limits.${key}`, own, limit }) ? own : limit;
  };
  const { host, session } = narrowing;
  const [own, given] = [session.limits.max_commands, host.limits.max_commands];
  const isLess = isWithin(narrowing, { path: 'limits.max_commands', own, limit: given ?? Number.POSITIVE_INFINITY });
  const maxCommands = isLess ? own : given;
  return {
    max_in_flight: lower('max_in_flight'),
    lock_wait_ms: lower('lock_wait_ms'),
    max_request_bytes: lower('max_request_bytes'),
    approval_timeout_ms: lower('approval_timeout_ms'),
    max_jobs: lower('max_jobs'),
    max_workspace_jobs: lower('max_workspace_jobs'),
    max_answer_tokens: lower('max_answer_tokens'),
    max_kept_jobs: lower('max_kept_jobs'),
    ...(maxCommands === undefined ? {} : { max_commands: maxCommands }),
  };
}
