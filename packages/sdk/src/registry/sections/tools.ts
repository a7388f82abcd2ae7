/** `tools`: switches and time limits by tool. */
import { z } from 'zod';
import type { ToolSettings } from '../../contracts/registry.ts';
import { freezeMap } from '../freeze.ts';
import { isWithin, isWritten, type Narrowing } from '../narrowing.ts';
import { defineSection } from '../section.ts';
import { milliseconds, toolName } from '../texts.ts';

const toolSettings = z
  .strictObject({
    enabled: z.boolean().default(true).describe('Whether the tool may be called'),
    timeout_ms: milliseconds.exactOptional().describe('Time limit of a call that asks for none'),
    max_timeout_ms: milliseconds.exactOptional().describe('Longest time limit a call may ask for'),
  })
  .superRefine(({ timeout_ms: usual, max_timeout_ms: longest }, context) => {
    if (usual === undefined || longest === undefined || usual <= longest) return;
    context.addIssue({ code: 'custom', path: ['timeout_ms'], message: 'Time limit is above max_timeout_ms' });
  });

export const tools = defineSection({
  keys: { tools: z.record(toolName, toolSettings).default({}).describe('Tool name → switch and time limits') },
  build: (written) => ({ tools: freezeMap(new Map<string, ToolSettings>(Object.entries(written.tools))) }),
  toolNames: ['tools.~'],
  narrow: (narrowing) => ({ tools: narrowTools(narrowing) }),
});

function narrowTools(narrowing: Narrowing): ReadonlyMap<string, ToolSettings> {
  const names = new Set([...narrowing.host.tools.keys(), ...narrowing.session.tools.keys()]);
  return freezeMap(new Map([...names].map((name) => [name, narrowTool(narrowing, name)] as const)));
}

/** Where the host's registry sets no time limit, the tool's own holds. */
function narrowTool(narrowing: Narrowing, name: string): ToolSettings {
  const { host, session, overreach } = narrowing;
  const given = host.tools.get(name) ?? { enabled: true };
  const own = session.tools.get(name) ?? { enabled: true };
  if (own.enabled && !given.enabled && isWritten(session, `tools.${name}.enabled`)) {
    overreach.push({ path: `tools.${name}.enabled`, message: `Tool is switched off by the host: ${name}` });
  }
  const timeLimit = given.timeout_ms ?? narrowing.toolTimeouts.get(name);
  const timeout = { path: `tools.${name}.timeout_ms`, own: own.timeout_ms, limit: timeLimit };
  const longest = {
    path: `tools.${name}.max_timeout_ms`,
    own: own.max_timeout_ms,
    limit: given.max_timeout_ms ?? timeLimit,
  };
  const maxMs = isWithin(narrowing, longest) ? own.max_timeout_ms : given.max_timeout_ms;
  const askedMs = isWithin(narrowing, timeout) ? own.timeout_ms : given.timeout_ms;
  const timeoutMs = askedMs === undefined || maxMs === undefined ? askedMs : Math.min(askedMs, maxMs);
  return {
    enabled: given.enabled && own.enabled,
    ...(timeoutMs === undefined ? {} : { timeout_ms: timeoutMs }),
    ...(maxMs === undefined ? {} : { max_timeout_ms: maxMs }),
  };
}
