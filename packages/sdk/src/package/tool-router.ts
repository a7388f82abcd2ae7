/** Finds routes by name in one snapshot. An unknown name is a denial, never a guess. */
import { isJsonObject, type ToolError } from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';
import { failure } from '../contracts/failures.ts';
import type { AnyTool } from '../contracts/tool.ts';
import { nearestName } from '../text/nearest-name.ts';
import type { ToolRegistrySnapshot } from './registry-snapshot.ts';
import type { ResolvedToolCall, ToolCallRequest } from './tool-call.ts';

const SHOWN_NAME_LENGTH = 64;

export interface ToolRouter {
  readonly snapshot: ToolRegistrySnapshot;
  /**
   * The call with its route. The route is deep-frozen, so handing out the snapshot's own is as safe as a copy. Throws
   * E_POLICY for an unknown name.
   */
  resolve(request: ToolCallRequest): ResolvedToolCall;
}

/** Values of these arguments are names and numbers; values of other arguments are not shown. */
const SHOWN = new Set(['path', 'glob', 'pattern', 'offset', 'limit', 'timeout_ms']);
const MAX_SHOWN = 200;

interface KnownCall {
  readonly tool: string;
  /** `file_read {"path":"a.ts"}` */
  readonly text: string;
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

/** Suggests which tool may be meant, and how to call it. */
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

/** A tool called by a name it has elsewhere: the call that does the same here. */
export function callInOurWords(name: string, args: unknown, tools: Iterable<AnyTool>): KnownCall | undefined {
  const asked = name.toLowerCase().replace(/[_-]/g, '');
  for (const { name: tool, knownAs } of tools) {
    if (knownAs?.names.includes(asked) !== true) continue;
    const given = isJsonObject(args) ? Object.entries(args) : [];
    const ours = given.flatMap(([argument, value]): [string, unknown][] => {
      const own = Object.hasOwn(knownAs.args, argument) ? knownAs.args[argument] : undefined;
      if (own === undefined) return [];
      return [[own, SHOWN.has(own) && String(value).length <= MAX_SHOWN ? value : '…']];
    });
    return { tool, text: `${tool} ${JSON.stringify(Object.fromEntries(ours))}` };
  }
  return undefined;
}
