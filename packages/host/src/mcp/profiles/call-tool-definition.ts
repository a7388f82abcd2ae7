/**
 * tool_call: calls a tool that is not in the client's list. Models and most clients only call what is listed, and a list
 * must not grow as a side effect of a search, so the way to the rest of the tools is a listed tool itself.
 *
 * It is a name for `tools/call` with another name in it: the server runs the named tool, which is what policy judges
 * and the journal records.
 */
import type { Tool } from '@modelcontextprotocol/server';
import { isJsonObject, type JsonObject, ToolError } from '@tool-runtime/protocol';

export const CALL_TOOL_NAME = 'tool_call';

/** The hints of the worst tool behind it. */
export const CALL_TOOL: Tool = {
  name: CALL_TOOL_NAME,
  title: 'Call a found tool',
  description: 'Call a tool that tool_search found and that is not in your list.',
  inputSchema: {
    type: 'object',
    properties: {
      tool: { type: 'string' },
      args: { type: 'object', description: 'As its input_schema says' },
    },
    required: ['tool', 'args'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
};

export interface NamedCall {
  readonly tool: string;
  readonly args: JsonObject;
}

/** Throws E_VALIDATION_FAIL; also for itself and for a search, which are no tools of the runtime. */
export function readNamedCall(given: unknown): NamedCall {
  const { tool, args = {}, ...others } = isJsonObject(given) ? given : {};
  const surplus = Object.keys(others)[0];
  if (typeof tool !== 'string' || tool === '') throw misfit('tool is no name', 'give the name tool_search answered');
  if (!isJsonObject(args)) throw misfit('args is no object', 'give the arguments as its input_schema says');
  if (surplus !== undefined) throw misfit(`unknown key ${surplus}`, 'put the arguments of the tool into args');
  if (tool === CALL_TOOL_NAME) throw misfit('it cannot call itself', 'name the tool to call');
  return { tool, args };
}

function misfit(problem: string, next: string): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Arguments do not fit ${CALL_TOOL_NAME}: ${problem}`, {
    details: { next },
  });
}
