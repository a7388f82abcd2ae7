/**
 * Mastra: a session's tools by name, for `new Agent({ tools })`.
 *
 * The runtime checks arguments, not Mastra: a bad call is then answered and recorded like any other. `requireApproval` is
 * asked with the arguments alone, so a yes is matched by tool and arguments, and only for calls that an agent makes.
 */
import { createTool } from '@mastra/core/tools';
import type { Session } from '@tool-runtime/sdk';
import type { ToolCallResult } from './call-tool.ts';
import type { JsonSchema } from './list-tools.ts';
import { type AdapterOptions, type OfferedTool, offerTools } from './offer-tools.ts';

export type MastraTools = Record<string, ReturnType<typeof createTool>>;

export function toMastraTools(session: Session, options: AdapterOptions = {}): MastraTools {
  const { tools } = offerTools(session, options, { provider: 'mastra', asksWithoutCallId: true });
  const isAsked = options.approvals !== undefined;
  return Object.fromEntries(tools.map((tool) => [tool.name, toMastraTool(tool, { isAsked })]));
}

interface MastraContext {
  readonly abortSignal?: AbortSignal;
  readonly agent?: { readonly toolCallId?: string };
}

function toMastraTool(tool: OfferedTool, { isAsked }: { readonly isAsked: boolean }) {
  const { name, description, annotations, parameters } = tool;
  const definition = {
    id: name,
    title: annotations.title,
    description,
    inputSchema: uncheckedSchema(parameters),
    execute: (args: unknown, context?: MastraContext) =>
      tool.run(args, { callId: context?.agent?.toolCallId, signal: context?.abortSignal }),
    toModelOutput: ({ ok, text }: ToolCallResult) => ({ type: ok ? 'text' : 'error-text', value: text }),
    ...(isAsked ? { requireApproval: (args: unknown) => tool.needsApproval(args) } : {}),
  };
  return createTool(definition as unknown as Parameters<typeof createTool>[0]);
}

/** A schema that shows the model everything and lets everything pass. */
function uncheckedSchema(schema: JsonSchema) {
  return {
    '~standard': {
      version: 1,
      vendor: 'tool-runtime',
      validate: (value: unknown) => ({ value }),
      jsonSchema: { input: () => schema, output: () => schema },
    },
  };
}
