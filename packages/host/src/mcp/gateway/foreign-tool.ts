/**
 * A foreign tool as a tool of the runtime: same path, same gates, same records. What a session is shown of it is the
 * approved definition; one that waits for approval is there too, hidden, so that a caller learns why.
 */
import type { JsonObject, JsonValue } from '@tool-runtime/protocol';
import { ToolError } from '@tool-runtime/protocol';
import { type AnyTool, compileGlobs, defineTool, type McpServerSettings, type Registry } from '@tool-runtime/sdk';
import { presentBlocks } from '@tool-runtime/sdk/parts';
import { z } from 'zod';
import { checkSchema, type SchemaCheck } from './check-schema.ts';
import type { ForeignDefinition } from './foreign-definition.ts';
import { foreignProfile } from './foreign-profile.ts';
import type { Upstream } from './upstream.ts';

export interface ForeignToolSetting {
  /** Name in the runtime. */
  readonly name: string;
  readonly server: string;
  readonly settings: McpServerSettings;
  readonly definition: ForeignDefinition;
  readonly upstream: Upstream;
  /** Why it may not be used now, whatever a registry says. */
  quarantine(): ToolError | undefined;
}

const MAX_SUMMARY = 4096;
const MAX_TITLE = 120;

const data = z.looseObject({
  content: z.array(z.looseObject({ type: z.string() })).describe('Content blocks as MCP defines them'),
  structured: z.unknown().optional().describe('Structured content of the server'),
  artifact: z.looseObject({ handle: z.string() }).optional().describe('The whole answer, when it was too long'),
  truncated: z.boolean().optional(),
});

export function foreignTool(setting: ForeignToolSetting): AnyTool {
  const { name, server, settings, definition, upstream } = setting;
  const profile = foreignProfile(definition, settings);
  return defineTool({
    name,
    category: `mcp.${server}`,
    title: (definition.title ?? definition.name).slice(0, MAX_TITLE),
    summary: summaryOf(definition, server),
    policyNotes: `Runs at the MCP server ${server}, which this runtime does not control. Needs approval unless auto_approve lists it.`,
    args: argsOf(definition.inputSchema),
    argsJsonSchema: definition.inputSchema,
    data,
    dataJsonSchema: dataSchemaOf(definition),
    isDataProven: true,
    annotations: {
      kind: profile.kind,
      side_effect_level: profile.level,
      // It is unknown whether a server reads a path as a file, a folder with what is in it, or a glob.
      arg_schema: { path_params: profile.pathArgs, set_params: profile.pathArgs, url_params: profile.urlArgs },
      emits_artifacts: true,
      result_readers: ['artifact_read'],
    },
    effect: profile.effect,
    risk: profile.risk,
    asksByDefault: true,
    // It may touch other paths than those it declares.
    locks: ['workspace'],
    rehearse: 'none',
    timeoutMs: settings.timeout_ms,
    recordDetails: () => ({ mcp_server: server, mcp_tool: definition.name }),
    hiddenBy: (registry) => notMounted(setting, registry) ?? setting.quarantine(),
    hasLargeAnswers: true,
    present: presentBlocks,
    async run(args, context) {
      const refusal = setting.quarantine();
      if (refusal !== undefined) throw refusal;
      const answer = await upstream.call(setting, args as JsonObject, context);
      return answer as unknown as z.output<typeof data>;
    },
  });
}

function summaryOf({ description = '' }: ForeignDefinition, server: string): string {
  const text = description.trim();
  return text === '' ? `Tool of the MCP server ${server}` : text.slice(0, MAX_SUMMARY);
}

/** Compiled with the first call: most tools of a server are never called. */
function argsOf(schema: JsonObject): z.ZodObject {
  let check: SchemaCheck | undefined;
  return z.looseObject({}).superRefine((args, context) => {
    check ??= checkSchema(schema);
    for (const { path, message } of check(args as JsonObject)) {
      context.addIssue({ code: 'custom', path: [...path], message });
    }
  });
}

/** References of the foreign schema start at its own root, which lies deeper here. */
function dataSchemaOf({ outputSchema }: ForeignDefinition): JsonObject {
  const ours = z.toJSONSchema(data, { io: 'output' }) as JsonObject;
  if (outputSchema === undefined) return ours;
  const { $schema: _, $id: __, ...schema } = outputSchema;
  const structured = movedReferences(schema, '#/properties/structured');
  return { ...ours, properties: { ...(ours['properties'] as JsonObject), structured } };
}

function movedReferences(value: JsonValue, root: string): JsonValue {
  if (Array.isArray(value)) return value.map((item: JsonValue) => movedReferences(item, root));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, item]): [string, JsonValue] => {
    const isPointer = key === '$ref' && typeof item === 'string' && /^#(?:\/|$)/.test(item);
    return [key, isPointer ? `${root}${item.slice(1)}` : movedReferences(item, root)];
  });
  return Object.fromEntries(entries);
}

/** By the registry of the session, which may be narrower than the runtime's. */
function notMounted({ name, server, definition }: ForeignToolSetting, registry: Registry): ToolError | undefined {
  const settings = registry.mcpServers.get(server);
  if (settings === undefined) {
    return new ToolError('E_POLICY', `MCP server is not mounted here: ${server}`, {
      details: { gate: 'route', reason: 'server_not_mounted', field: 'mcp_servers' },
    });
  }
  if (isListed(settings, definition.name)) return undefined;
  return new ToolError('E_POLICY', `Tool is not listed for the MCP server ${server}: ${name}`, {
    details: {
      gate: 'route',
      reason: 'tool_not_listed',
      field: `mcp_servers.${server}.tools`,
      next: `let the operator add ${definition.name} to mcp_servers.${server}.tools`,
    },
  });
}

export function isListed({ tools }: McpServerSettings, tool: string): boolean {
  return tools.includes('*') || tools.includes(tool) || compileGlobs(tools)(tool);
}
