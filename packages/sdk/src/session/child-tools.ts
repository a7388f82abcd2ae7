/** The tools a child is offered, and for every other one the reason why not. */
import type { ToolError } from '@tool-runtime/protocol';
import { policyDenial } from '../contracts/failures.ts';
import type { AnyTool } from '../contracts/tool.ts';
import { manifestHash } from '../package/strip-manifest.ts';
import type { ChildBinding } from './family.ts';

export interface ChildTools {
  readonly tools: readonly AnyTool[];
  readonly withheld: ReadonlyMap<string, ToolError>;
}

export function childTools({ prepared, parent }: ChildBinding, tools: readonly AnyTool[]): ChildTools {
  const { routes, manifest } = prepared.built;
  const kept = new Set(routes.map((route) => route.canonical_tool_name));
  const withheld = new Map<string, ToolError>();
  for (const { name } of tools) {
    if (!kept.has(name)) withheld.set(name, parent.parts.hidden.get(name) ?? stripped(name, prepared.agentId));
  }
  return { tools: tools.filter(({ name }) => kept.has(name)), withheld };

  function stripped(name: string, agentId: string): ToolError {
    return policyDenial(`Tool was not handed to this child: ${name}`, {
      details: {
        gate: 'route',
        reason: 'stripped',
        agent_id: agentId,
        tool_policy: manifest.tool_policy.type,
        manifest_hash: manifestHash(manifest),
        next: 'ask the parent to make the call, or to open a child that has the tool',
      },
    });
  }
}
