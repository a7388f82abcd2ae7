/** job_stop: kills a running command and everything it started. */
import { z } from 'zod';
import { JOB_STATES } from '../../contracts/jobs.ts';
import { defineTool } from '../../contracts/tool.ts';

const args = z.strictObject({ job: z.string().describe('Job handle from shell_exec') });

const data = z.strictObject({
  job: z.string(),
  state: z.enum(JOB_STATES),
  code: z.int().nullable(),
});

export const jobStop = defineTool({
  name: 'job_stop',
  category: 'proc',
  title: 'Stop job',
  summary: 'Kill a job and all its processes',
  policyNotes: 'Only jobs of the same session',
  args,
  data,
  annotations: {
    kind: 'execute',
    side_effect_level: 'process_exec',
    capabilities: { process: ['exec'] },
    inline_result: true,
  },
  effect: 'process',
  writes: 'unknown',
  risk: 'medium',
  idempotent: true,
  rehearse: 'none',
  timeoutMs: 10_000,
  present: presentStopped,
  async run({ job }, { jobs }) {
    const { id, state, code } = await jobs.stop(job);
    return { job: id, state, code };
  },
});

function presentStopped({ job, state, code }: z.output<typeof data>): string {
  return `${job}: ${state}${code === null ? '' : `, exit ${code}`}`;
}
