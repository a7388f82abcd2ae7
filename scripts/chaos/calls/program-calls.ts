/** Programs, jobs and what they leave; figures, rules and lists. */
import type { JsonObject, ToolResponse } from '@tool-runtime/protocol';
import type { CallPlan } from '../../../packages/host/test/load/call-book.ts';
import { sourceName } from '../stage/plant-repository.ts';
import { type Caller, type CallKind, type Lane, planCall } from './call-maker.ts';

export const programCalls: readonly CallKind[] = [
  { name: 'interrupt a command', weight: 12, make: interrupt },
  { name: 'long output', weight: 5, make: longOutput },
  { name: 'read an artifact', weight: 6, make: readArtifact },
  { name: 'start a job', weight: 6, make: startJob },
  { name: 'poll a job', weight: 8, make: pollJob },
  { name: 'stop a job', weight: 4, make: stopJob },
  { name: 'feed a job', weight: 3, make: feedJob },
  { name: 'list jobs', weight: 4, make: (lane) => planCall(lane, { tool: 'job_list', args: {} }) },
  { name: 'list processes', weight: 4, make: (lane) => planCall(lane, { tool: 'proc_list', args: {} }) },
  { name: 'figures', weight: 5, make: (lane) => planCall(lane, { tool: 'emit_metrics', args: {} }) },
  { name: 'validate', weight: 3, make: validate },
  { name: 'slow request', weight: 6, make: slowRequest },
];

/** A job that has ended is forgotten after a while, and one of a fault may never have been. */
const JOB_CODES = ['E_VALIDATION_FAIL', 'E_POLICY', 'E_SHELL'];

function noting(plan: CallPlan, note: (data: JsonObject) => void): CallPlan {
  return {
    ...plan,
    settle(answer: ToolResponse | undefined) {
      plan.settle?.(answer);
      if (answer?.ok === true && answer.data !== null) note(answer.data as JsonObject);
    },
  };
}

function interrupt(lane: Lane, { transport }: Caller) {
  if (transport === 'mcp') return undefined;
  const cancelAfterMs = 10 + lane.random.below(200);
  return planCall(lane, { tool: 'shell_exec', args: { argv: ['sleep', '20'] }, cancelAfterMs });
}

function longOutput(lane: Lane, caller: Caller) {
  const plan = planCall(lane, { tool: 'shell_exec', args: { argv: ['seq', '900000'] } });
  return noting(plan, ({ stdout_artifact: artifact }) => {
    if (typeof artifact === 'string') caller.artifacts.push(artifact);
  });
}

function readArtifact(lane: Lane, caller: Caller) {
  const artifact = caller.artifacts.shift();
  if (artifact === undefined) return undefined;
  return planCall(lane, { tool: 'artifact_read', args: { artifact, tail_lines: 3 }, isRight: hasContent });
}

function hasContent({ content }: JsonObject): boolean {
  return typeof content === 'string' && content !== '';
}

function startJob(lane: Lane, caller: Caller) {
  const args = { argv: ['sleep', String(1 + lane.random.below(20))], yield_after_ms: 50 };
  return noting(planCall(lane, { tool: 'shell_exec', args }), ({ job }) => {
    if (typeof job === 'string') caller.jobs.push(job);
  });
}

function pollJob(lane: Lane, caller: Caller) {
  return ofJob(lane, caller, 'job_poll', { wait_ms: 200 });
}

function stopJob(lane: Lane, caller: Caller) {
  return ofJob(lane, caller, 'job_stop', {});
}

function feedJob(lane: Lane, caller: Caller) {
  return ofJob(lane, caller, 'job_input', { text: 'x\n' });
}

function ofJob(lane: Lane, { jobs }: Caller, tool: string, args: JsonObject) {
  if (jobs.length === 0) return undefined;
  return planCall(lane, { tool, args: { job: lane.random.pick(jobs), ...args }, mayFail: JOB_CODES });
}

function validate(lane: Lane) {
  return planCall(lane, {
    tool: 'validate',
    args: { rule_id: 'secrets.scan', glob: sourceName(1) },
    mayFail: ['E_VALIDATION_FAIL', 'E_FILE_IO', 'E_GIT'],
  });
}

function slowRequest(lane: Lane) {
  const url = `http://127.0.0.1:${lane.ports.allowed}/slow/page`;
  return planCall(lane, { tool: 'curl', args: { url }, isRight: ({ status }) => status === 200 });
}
