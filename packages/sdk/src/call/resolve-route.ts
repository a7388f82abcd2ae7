/** Finds the tool in the session's frozen snapshot: exact name or refusal. Runs nothing. */
import { policyDenial } from '../contracts/failures.ts';
import type { OpenCall } from './state/call-types.ts';
import type { CompiledTool, SessionParts } from './state/session-parts.ts';

export function resolveRoute(open: OpenCall, parts: SessionParts): CompiledTool {
  const name = open.request.tool;
  const hidden = parts.hidden.get(name);
  if (hidden !== undefined) throw hidden;
  const { route } = parts.router.resolve({
    tool_call_id: open.callId,
    canonical_tool_name: name,
    source: parts.source,
    requested_args_refs: [],
    redacted_args_summary: '',
  });
  const compiled = parts.tools.get(name);
  if (compiled === undefined || parts.executors.get(route.executor_ref ?? '') === undefined) {
    throw policyDenial(`Tool has a route but nothing that executes it: ${name}`, {
      details: { gate: 'route', reason: 'missing.executor_ref' },
    });
  }
  return compiled;
}
