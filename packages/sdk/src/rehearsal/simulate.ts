/** Every recorded call, judged again under another registry by the gates that judge real calls. */
import type { ChangedCall, PolicySimulation } from '@tool-runtime/protocol';
import type { SessionParts } from '../call/state/session-parts.ts';
import type { Registry } from '../contracts/registry.ts';
import type { RuntimeParts } from '../session/compile-session.ts';
import { keptArgs, type RecordedCall, recordedCalls, sealedCalls, Unjudged } from './recorded-calls.ts';
import { detailOf, type Rehearsal, type RehearsedCall, rehearse, underRegistry } from './rehearsed-call.ts';

const EXAMPLES = 3;

export async function simulate(
  registry: Registry,
  runtime: RuntimeParts,
  { since }: { readonly since?: number | undefined } = {},
): Promise<PolicySimulation> {
  const calls = recordedCalls(runtime, since);
  const sealed = sealedCalls(runtime, since);
  const unjudged = new Unjudged();
  const changed: ChangedCall[] = [];
  let judged = 0;
  await underRegistry(registry, runtime, async (parts) => {
    for (const call of calls) {
      const kept = keptArgs(call, sealed);
      if (typeof call.before !== 'string') unjudged.add(call.before.unjudged, call.callId);
      else if (typeof kept === 'string') unjudged.add(kept, call.callId);
      else {
        const again = await judgeAgain(call, { tool: call.tool, args: kept.args }, parts);
        if (typeof again === 'string') unjudged.add(again, call.callId);
        else {
          judged += 1;
          if (again.decision !== call.before) changed.push(changeOf({ ...call, before: call.before }, again));
        }
      }
    }
  });
  return {
    changed: changed.length,
    calls: calls.length,
    judged,
    groups: groupsOf(changed),
    not_judged: unjudged.list(),
  };
}

/** Or why it cannot be judged: what was kept must be what the journal vouches for, and its tool must be here. */
export async function judgeAgain(
  { hashes, before }: Pick<RecordedCall, 'hashes' | 'before'>,
  call: RehearsedCall & { readonly args: Readonly<Record<string, never>> | object },
  parts: SessionParts,
): Promise<Rehearsal | string> {
  const rehearsal = await rehearse(call, parts);
  const own = [rehearsal.ready?.argsHash, parts.hashArgs(call.tool, call.args as never)];
  if (!hashes.some((hash) => own.includes(hash))) return 'the arguments are not those on record';
  const isMissing = rehearsal.code === 'unknown_tool';
  return isMissing && before !== 'deny' ? 'the tool is not in this runtime' : rehearsal;
}

function changeOf(
  { callId, atMs, tool, summary, before }: RecordedCall & { readonly before: ChangedCall['from'] },
  { decision, code, error }: Rehearsal,
): ChangedCall {
  const registry = detailOf(error, 'registry');
  return {
    call_id: callId,
    at_ms: atMs,
    tool,
    summary,
    from: before,
    to: decision,
    code,
    ...(error === undefined ? {} : { message: error.message }),
    ...(registry === undefined ? {} : { registry }),
  };
}

function groupsOf(changed: readonly ChangedCall[]): PolicySimulation['groups'] {
  const groups = Map.groupBy(changed, ({ tool, from, to }) => JSON.stringify([tool, from, to]));
  return [...groups.values()]
    .toSorted((one, other) => other.length - one.length)
    .map((calls) => {
      const { tool, from, to } = calls[0] as ChangedCall;
      return { tool, from, to, count: calls.length, examples: calls.slice(0, EXAMPLES) };
    });
}
