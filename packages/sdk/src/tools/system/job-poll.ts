/** job_poll: what a running command printed since the last look, and whether it still runs. */
import { z } from 'zod';
import { JOB_STATES, type JobWait } from '../../contracts/jobs.ts';
import { defineTool } from '../../contracts/tool.ts';
import type { ToolText } from '../../contracts/tool-text.ts';
import { outputText } from '../../present/output-text.ts';

const WAIT_MAX = 60_000;
const TIMEOUT_DEFAULT = 30_000;
const TIMEOUT_MAX = 300_000;

const args = z.strictObject({
  job: z.string().describe('Job handle from shell_exec'),
  wait_ms: z.int().min(0).max(WAIT_MAX).default(0).describe('Longest wait for new output before answering'),
  wait_for_text: z
    .string()
    .min(1)
    .max(1000)
    .optional()
    .describe('Wait until a stream has printed this text, at any time since the start (the newest 256 KiB)'),
  wait_for_port: z.int().min(1).max(65_535).optional().describe('Wait until the job listens on this TCP port'),
  timeout_ms: z
    .int()
    .min(0)
    .max(TIMEOUT_MAX)
    .default(TIMEOUT_DEFAULT)
    .describe('Longest wait for wait_for_text and wait_for_port'),
});

const data = z.strictObject({
  job: z.string(),
  state: z.enum(JOB_STATES).describe('timed_out: killed at its deadline; killed: ended by a signal, job_stop included'),
  code: z.int().nullable().describe('Exit code; null while it runs and when a signal ended it'),
  signal: z.string().nullable().describe('The signal that ended it'),
  remaining_ms: z.int().nullable().describe('Time until its deadline; null when it has ended'),
  found: z
    .boolean()
    .optional()
    .describe('Whether text and port were there; false when the time was up or the job ended before'),
  stdout: z.string().describe('Printed since the last poll, or since the answer of shell_exec'),
  stderr: z.string(),
  stdout_from: z.int().describe('Offset of the first byte of stdout in what the job printed'),
  stderr_from: z.int(),
  missed_bytes: z.int().describe('Bytes dropped because the job was not polled in time; the artifact has them'),
  stdout_artifact: z
    .string()
    .optional()
    .describe('Handle of the whole output, from 16 KiB on; it can be read while the job runs'),
  stderr_artifact: z.string().optional(),
});

export const jobPoll = defineTool({
  name: 'job_poll',
  category: 'proc',
  title: 'Poll job',
  summary: 'Read new output and the state of a job; wait for a text or a port',
  policyNotes: 'Only jobs of the same session, and kept jobs of earlier sessions of the same actor',
  args,
  data,
  annotations: { kind: 'read', side_effect_level: 'read_only', capabilities: { process: ['poll'] } },
  effect: 'read',
  risk: 'low',
  timeoutMs: TIMEOUT_MAX + 5_000,
  measure: ({ stdout, stderr }) => stdout.length + stderr.length,
  hasLargeAnswers: true,
  present: presentPoll,
  async run({ job, wait_ms, wait_for_text: text, wait_for_port: port, timeout_ms }, { jobs, signal, masked }) {
    const isNamed = text !== undefined || port !== undefined;
    const wait: JobWait = { waitMs: isNamed ? timeout_ms : wait_ms, text, port };
    const { stdout, stderr, artifacts, ...news } = await jobs.poll(job, wait, signal);
    masked(news.masked);
    return {
      job: news.id,
      state: news.state,
      code: news.code,
      signal: news.signal,
      remaining_ms: news.remainingMs,
      ...(news.isThere === undefined ? {} : { found: news.isThere }),
      stdout: stdout.text,
      stderr: stderr.text,
      stdout_from: stdout.from,
      stderr_from: stderr.from,
      missed_bytes: stdout.missedBytes + stderr.missedBytes,
      ...(artifacts.stdout === undefined ? {} : { stdout_artifact: artifacts.stdout }),
      ...(artifacts.stderr === undefined ? {} : { stderr_artifact: artifacts.stderr }),
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
