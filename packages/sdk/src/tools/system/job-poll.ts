/** job_poll: what a running command printed since the last look, and whether it still runs. */
import { stripVTControlCharacters } from 'node:util';
import { z } from 'zod';
import { JOB_STATES } from '../../contracts/jobs.ts';
import { defineTool } from '../../contracts/tool.ts';
import type { ToolText } from '../../contracts/tool-text.ts';
import { outputText } from '../../present/output-text.ts';

const WAIT_MAX = 60_000;

const args = z.strictObject({
  job: z.string().describe('Job handle from shell_exec'),
  wait_ms: z.int().min(0).max(WAIT_MAX).default(0).describe('Longest wait for new output before answering'),
});

const data = z.strictObject({
  job: z.string(),
  state: z.enum(JOB_STATES),
  code: z.int().nullable(),
  signal: z.string().nullable(),
  stdout: z.string().describe('Printed since the last poll'),
  stderr: z.string(),
  missed_bytes: z.int().describe('Bytes dropped because the job was not polled in time'),
  stdout_artifact: z
    .string()
    .optional()
    .describe('Handle of the whole output, once the job has ended and if it was long'),
  stderr_artifact: z.string().optional(),
});

export const jobPoll = defineTool({
  name: 'job_poll',
  category: 'proc',
  title: 'Poll job',
  summary: 'Read new output and the state of a job',
  policyNotes: 'Only jobs of the same session',
  args,
  data,
  annotations: { kind: 'read', side_effect_level: 'read_only', capabilities: { process: ['poll'] } },
  effect: 'read',
  risk: 'low',
  timeoutMs: WAIT_MAX + 5_000,
  measure: ({ stdout, stderr }) => stdout.length + stderr.length,
  hasLargeAnswers: true,
  present: presentPoll,
  async run({ job, wait_ms }, { jobs, signal }) {
    const polled = await jobs.poll(job, wait_ms, signal);
    const { stdout, stderr } = polled.artifacts;
    return {
      job: polled.id,
      state: polled.state,
      code: polled.code,
      signal: polled.signal,
      stdout: stripVTControlCharacters(polled.stdout),
      stderr: stripVTControlCharacters(polled.stderr),
      missed_bytes: polled.missedBytes,
      ...(stdout === undefined ? {} : { stdout_artifact: stdout }),
      ...(stderr === undefined ? {} : { stderr_artifact: stderr }),
    };
  },
});

function presentPoll(polled: z.output<typeof data>): ToolText {
  const { job, state, code, signal, stdout, stderr, missed_bytes, stdout_artifact, stderr_artifact } = polled;
  const ended = state === 'running' ? 'running' : `${state}, ${signal === null ? `exit ${code ?? 'unknown'}` : signal}`;
  const missed = missed_bytes === 0 ? '' : `, ${missed_bytes} bytes were dropped before this`;
  const isSilent = stdout === '' && stderr === '';
  return outputText({
    head: `${job}: ${ended}${missed}${isSilent ? ', nothing new' : ''}`,
    stdout,
    stderr,
    stdoutArtifact: stdout_artifact,
    stderrArtifact: stderr_artifact,
    rest: 'poll more often, or read the artifact when the job has ended',
  });
}
