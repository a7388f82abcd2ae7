/** Finds routes by name in one snapshot. An unknown name is a denial, never a guess. */
import type { ToolError } from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';
import { failure } from '../contracts/failures.ts';
import { nearestName } from '../text/nearest-name.ts';
import type { KnownCall } from './known-names.ts';
import type { ToolRegistrySnapshot } from './registry-snapshot.ts';
import type { ResolvedToolCall, ToolCallRequest } from './tool-call.ts';

const SHOWN_NAME_LENGTH = 64;

export interface ToolRouter {
  readonly snapshot: ToolRegistrySnapshot;
  /**
   * The call with its route. The route is deep-frozen, so handing out the snapshot's own is as safe as a copy.
   * Throws E_POLICY for an unknown name.
   */
  resolve(request: ToolCallRequest): ResolvedToolCall;
}

export function createRouter(snapshot: ToolRegistrySnapshot): ToolRouter {
  return Object.freeze({
    snapshot,
    resolve(request: ToolCallRequest): ResolvedToolCall {
      const route = snapshot.findByName(request.canonical_tool_name);
      if (route === undefined) throw unknownTool(request.canonical_tool_name, snapshot);
      return { request, route };
    },
  });
}

/** Also says which tool may be meant, and how to call it. */
export function unknownTool(name: string, snapshot: ToolRegistrySnapshot, known?: KnownCall): ToolError {
  const names = snapshot.routes.map((route) => route.canonical_tool_name);
  const nearest = known?.tool ?? nearestName(name, names);
  return failure(
    'policy_denial',
    'host_configuration_needed',
    `Tool is not in the package: ${safeText(name, SHOWN_NAME_LENGTH)}`,
    {
      details: {
        reason: 'unknown_tool',
        next:
          nearest === undefined
            ? 'List the tools this session may call'
            : `Call ${known?.text ?? nearest} if that was meant`,
        ...(nearest === undefined ? {} : { nearest }),
      },
    },
  );
}
