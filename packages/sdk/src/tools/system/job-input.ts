/** job_input: text for the standard input of a running command. */
import { z } from 'zod';
import { defineTool } from '../../contracts/tool.ts';
import { counted } from '../../present/rows.ts';

const args = z.strictObject({
  job: z.string().describe('Job handle from shell_exec'),
  text: z.string().default('').describe('Text to write'),
  end: z.boolean().default(false).describe('Close the input afterwards'),
});

const data = z.strictObject({ job: z.string(), written: z.int().describe('Bytes written') });

export const jobInput = defineTool({
  name: 'job_input',
  category: 'proc',
  title: 'Write to job',
  summary: 'Write to the standard input of a job',
  policyNotes: 'Only jobs of the same session, and only commands that were allowed when they started',
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
  rehearse: 'none',
  timeoutMs: 10_000,
  privateArgs: ['text'],
  present: presentInput,
  async run({ job, text, end }, { jobs }) {
    const bytes = Buffer.from(text, 'utf8');
    await jobs.write(job, bytes, { end });
    return { job, written: bytes.length };
  },
});

function presentInput({ job, written }: z.output<typeof data>): string {
  return `wrote ${counted(written, 'byte')} to ${job}`;
}
