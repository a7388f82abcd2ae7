/** job_list: the jobs of the session, running and finished. */
import { z } from 'zod';
import { JOB_STATES } from '../../contracts/jobs.ts';
import { defineTool } from '../../contracts/tool.ts';
import type { ToolText } from '../../contracts/tool-text.ts';
import { counted, shownName } from '../../present/rows.ts';

const data = z.strictObject({
  jobs: z.array(
    z.strictObject({
      job: z.string(),
      command: z.string(),
      state: z.enum(JOB_STATES),
      code: z.int().nullable(),
      started_at: z.int().describe('Unix milliseconds'),
      remaining_ms: z.int().nullable().describe('Time until its deadline (timeout_ms); null when it has ended'),
      keep: z.boolean().describe('It outlives its session'),
    }),
  ),
});

export const jobList = defineTool({
  name: 'job_list',
  category: 'proc',
  title: 'List jobs',
  summary: 'List the jobs of this session',
  policyNotes: 'Only jobs of the same session, and kept jobs of earlier sessions of the same actor',
  args: z.strictObject({}),
  data,
  annotations: { kind: 'read', side_effect_level: 'read_only', capabilities: { process: ['poll'] } },
  effect: 'read',
  risk: 'low',
  idempotent: true,
  timeoutMs: 10_000,
  present: presentJobs,
  run: (_args, { jobs, redactCommand }) => ({
    jobs: jobs.list().map(({ id, command, state, code, startedAt, remainingMs, isKept }) => ({
      job: id,
      command: redactCommand(command),
      state,
      code,
      started_at: startedAt,
      remaining_ms: remainingMs,
      keep: isKept,
    })),
  }),
});

function presentJobs({ jobs }: z.output<typeof data>): ToolText {
  const rows = jobs.map(({ job, command, state, code, started_at }) => {
    const ended = code === null ? state : `${state}, exit ${code}`;
    return `${job}: ${ended}, since ${new Date(started_at).toISOString()}: ${shownName(command)}`;
  });
  return { head: counted(jobs.length, 'job'), parts: [{ type: 'text', text: rows }] };
}
