/** Lets hooks deny a call or propose other arguments. What they propose is judged like anything else. */
import type { JsonObject } from '@tool-runtime/protocol';
import type { HookRecord } from '../contracts/journal.ts';
import type { CallView } from '../contracts/policy.ts';
import type { ReadyCall } from './state/call-types.ts';
import type { SessionParts } from './state/session-parts.ts';

/** Undefined: the arguments stand. Otherwise the caller must normalise and judge the returned ones. */
export async function runBeforeHooks(
  call: ReadyCall,
  parts: SessionParts,
  viewOf: (args: JsonObject) => CallView,
): Promise<JsonObject | undefined> {
  if (parts.hooks.isEmpty) return undefined;
  const answer = await parts.hooks.runBefore(call.view, {
    // The next hook must see what the change really means: other paths, another profile.
    onModified: ({ args }) => viewOf(args),
  });
  if (answer.type === 'allow') return undefined;
  if (answer.type === 'deny') {
    call.open.trail.push(hookRecord(call, answer.hook, 'denied', parts));
    throw answer.error;
  }
  for (const hook of answer.hooks) call.open.trail.push(hookRecord(call, hook, 'modified', parts));
  return answer.args;
}

function hookRecord(call: ReadyCall, hook: string, action: HookRecord['action'], parts: SessionParts): HookRecord {
  return {
    kind: 'hook',
    call_id: call.open.callId,
    session_id: call.open.sessionId,
    at_ms: parts.clock.now(),
    hook,
    action,
    before_hash: call.argsHash,
  };
}
