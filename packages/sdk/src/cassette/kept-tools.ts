/**
 * Tools that come with a registry, such as those of foreign MCP servers: a cassette keeps what a session is shown of them, so
 * that replay needs neither their programs nor their pins.
 */
import { type JsonObject, ToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import { completeAnnotations, SIDE_EFFECT_LEVELS, TOOL_KINDS } from '../contracts/annotations.ts';
import { EFFECT_CLASSES, RISK_CLASSES } from '../contracts/classes.ts';
import { type AnyTool, defineTool } from '../contracts/tool.ts';
import { presentBlocks } from '../present/content-blocks.ts';

const object = z.custom<JsonObject>((value) => typeof value === 'object' && value !== null && !Array.isArray(value));
const names = z.array(z.string().max(256)).max(1000).readonly();

export const keptToolSchema = z.strictObject({
  name: z.string().regex(/^[\w.-]{1,256}$/),
  category: z.string().max(256),
  title: z.string().max(1000),
  summary: z.string().max(20_000),
  notes: z.string().max(20_000).optional(),
  args: object,
  data: object.optional(),
  effect: z.enum(EFFECT_CLASSES),
  risk: z.enum(RISK_CLASSES),
  asks: z.boolean(),
  large: z.boolean(),
  timeout_ms: z.int().min(1),
  annotations: z.strictObject({
    kind: z.enum(TOOL_KINDS),
    side_effect_level: z.enum(SIDE_EFFECT_LEVELS),
    path_params: names,
    set_params: names,
    url_params: names,
    capabilities: z.record(z.string().max(256), names),
  }),
});

export type KeptTool = z.output<typeof keptToolSchema>;

export function keepTool(tool: AnyTool): KeptTool {
  const { kind, side_effect_level, arg_schema, capabilities } = completeAnnotations(tool.annotations);
  const { path_params, set_params = [], url_params } = arg_schema;
  const copied = Object.entries(capabilities).map(([name, operations]) => [name, [...operations]] as const);
  return {
    name: tool.name,
    category: tool.category,
    title: tool.title,
    summary: tool.summary,
    ...(tool.policyNotes === undefined ? {} : { notes: tool.policyNotes }),
    args: tool.argsJsonSchema ?? (z.toJSONSchema(tool.args as z.ZodType, { io: 'input' }) as JsonObject),
    ...(tool.dataJsonSchema === undefined ? {} : { data: tool.dataJsonSchema }),
    effect: tool.effect,
    risk: tool.risk,
    asks: tool.asksByDefault === true,
    large: tool.hasLargeAnswers === true,
    timeout_ms: tool.timeoutMs,
    annotations: {
      ...{ kind, side_effect_level, path_params: [...path_params], set_params: [...set_params] },
      ...{ url_params: [...url_params], capabilities: Object.fromEntries(copied) },
    },
  };
}

/** The tool as sessions see it. Its arguments are compared with the recorded ones, and it never runs. */
export function recalledTool(kept: KeptTool): AnyTool {
  const { kind, side_effect_level, path_params, set_params, url_params, capabilities } = kept.annotations;
  return defineTool({
    name: kept.name,
    category: kept.category,
    title: kept.title,
    summary: kept.summary,
    ...(kept.notes === undefined ? {} : { policyNotes: kept.notes }),
    args: z.looseObject({}),
    argsJsonSchema: kept.args,
    data: z.unknown(),
    ...(kept.data === undefined ? {} : { dataJsonSchema: kept.data }),
    isDataProven: true,
    annotations: {
      kind,
      side_effect_level,
      arg_schema: { path_params, set_params, url_params },
      capabilities,
      emits_artifacts: true,
      result_readers: ['artifact_read'],
    },
    effect: kept.effect,
    risk: kept.risk,
    asksByDefault: kept.asks,
    rehearse: 'none',
    timeoutMs: kept.timeout_ms,
    hasLargeAnswers: kept.large,
    present: presentBlocks,
    run() {
      throw new ToolError('E_INTERNAL', `Tool is known from a cassette and cannot run: ${kept.name}`, {
        details: { reason: 'tool_not_here', next: 'record the calls where the tool is mounted' },
      });
    },
  });
}
