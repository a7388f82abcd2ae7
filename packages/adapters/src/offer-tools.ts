/**
 * The tools of a session as an adapter offers them: chosen, trimmed, strict where that is wanted and possible, each
 * with the function that runs a call. Adapters only translate between this and their framework.
 */
import { isToolError, ToolError } from '@tool-runtime/protocol';
import type { Session } from '@tool-runtime/sdk';
import type { ApprovalBridge, JudgedToolCall } from './approval-bridge.ts';
import { callTool, refusedCall, type ToolCallResult } from './call-tool.ts';
import { type JsonSchema, listTools, type ToolDescription, type ToolSelection } from './list-tools.ts';
import { restoreArgs } from './restore-args.ts';
import { propertiesOf, requiredOf } from './schema-shape.ts';
import type { StrictProvider } from './strict-dialects.ts';
import { type StrictRefusal, strictSchema } from './strict-schema.ts';

/** `true`: strict where nothing is lost, the full schema elsewhere; `required`: a TypeError for what cannot be strict. */
export type StrictOption = boolean | 'required';

export interface AdapterOptions extends ToolSelection {
  /** Told apart from other runs that share the session, for providers whose call ids begin anew in each. */
  readonly runId?: string;
  /** UTF-8 bytes of text per answer; 32 KiB unless said. */
  readonly maxTextBytes?: number;
  /** Tool → optional arguments the model is not told about, to save tokens or to make the tool fit a strict schema. */
  readonly omit?: Readonly<Record<string, readonly string[]>>;
  /** Approvals collected by the framework; without it the runtime's own approver is asked. */
  readonly approvals?: ApprovalBridge;
}

export interface CallContext {
  readonly callId?: string | undefined;
  readonly signal?: AbortSignal | null | undefined;
}

export interface OfferedTool extends ToolDescription {
  /** What the model is shown: strict, or the full schema without `$schema`. */
  readonly parameters: JsonSchema;
  readonly isStrict: boolean;
  /** Whether the framework has to get a yes before it runs the call; never without a bridge. */
  needsApproval(args: unknown, callId?: string): Promise<boolean>;
  run(args: unknown, context?: CallContext): Promise<ToolCallResult>;
}

/** A tool that is not strict although that was wanted, and why. */
export interface RefusedTool {
  readonly name: string;
  readonly reasons: readonly StrictRefusal[];
}

export interface Offer {
  readonly tools: readonly OfferedTool[];
  readonly refused: readonly RefusedTool[];
}

export interface OfferFor {
  readonly provider: string;
  readonly dialect?: StrictProvider;
  readonly strict?: StrictOption;
  /** The framework does not tell the id of a call while it asks: a yes is matched by tool and arguments alone. */
  readonly asksWithoutCallId?: boolean;
}

const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;

export function offerTools(session: Session, options: AdapterOptions, target: OfferFor): Offer {
  const refused: RefusedTool[] = [];
  const tools = listTools(session, options).map((described) => {
    if (!TOOL_NAME.test(described.name)) throw new TypeError(`Model providers refuse the tool name: ${described.name}`);
    const trimmed = omitProperties(described, options.omit?.[described.name] ?? []);
    return { ...trimmed, ...shape(trimmed, target, refused) };
  });
  if (target.strict === 'required' && refused.length > 0) throw new TypeError(strictImpossible(refused));
  return { tools: tools.map((tool) => offered(tool, session, options, target)), refused };
}

interface ShapedTool extends ToolDescription, Shape {}

interface Shape {
  readonly parameters: JsonSchema;
  readonly isStrict: boolean;
}

function shape(tool: ToolDescription, { dialect, strict = false }: OfferFor, refused: RefusedTool[]): Shape {
  const { $schema: _, ...full } = tool.inputSchema;
  if (dialect === undefined || strict === false) return { parameters: full, isStrict: false };
  const converted = strictSchema(tool.inputSchema, dialect);
  if (converted.ok) return { parameters: converted.schema, isStrict: true };
  refused.push({ name: tool.name, reasons: converted.reasons });
  return { parameters: full, isStrict: false };
}

function offered(tool: ShapedTool, session: Session, options: AdapterOptions, target: OfferFor): OfferedTool {
  const { approvals } = options;
  const { name } = tool;
  const judged = (args: unknown, callId: string | undefined): JudgedToolCall =>
    callId === undefined || target.asksWithoutCallId === true ? { name, args } : { name, args, callId };
  return {
    ...tool,
    async needsApproval(given, callId) {
      const args = restored(tool, given, target);
      if (approvals === undefined || isToolError(args)) return false;
      return (await approvals.judge(session, judged(args, callId))).verdict === 'ask';
    },
    async run(given, { callId, signal } = {}) {
      const args = restored(tool, given, target);
      if (isToolError(args)) return refusedCall([args.toEntry()], options.maxTextBytes);
      const input = { ...callInput(options), name, args, provider: target.provider };
      const call = () =>
        callTool(session, {
          ...input,
          ...(callId === undefined ? {} : { callId }),
          ...(signal === undefined || signal === null ? {} : { signal }),
        });
      // A call without an id was not made by the framework's loop, so the framework asked nobody about it.
      if (approvals === undefined || callId === undefined) return call();
      return approvals.execute(session, judged(args, callId), call);
    },
  };
}

function callInput({ runId, maxTextBytes }: AdapterOptions) {
  return {
    ...(runId === undefined ? {} : { runId }),
    ...(maxTextBytes === undefined ? {} : { maxTextBytes }),
  };
}

/** Arguments as the runtime understands them. What cannot be restored is the model's mistake, and it is told. */
function restored({ inputSchema, isStrict }: ShapedTool, args: unknown, { dialect }: OfferFor): unknown {
  if (!isStrict || dialect === undefined) return args;
  try {
    return restoreArgs(inputSchema, dialect, args);
  } catch (thrown) {
    if (isToolError(thrown)) return thrown;
    throw thrown;
  }
}

function strictImpossible(refused: readonly RefusedTool[]): string {
  const list = refused.map(({ name, reasons }) => {
    const words = reasons.map(({ path, reason }) => `${path === '' ? 'schema' : path}: ${reason}`);
    return `${name} (${words.join('; ')})`;
  });
  return `Tools cannot be strict without losing meaning; omit the arguments or turn strict off: ${list.join(', ')}`;
}

/** The answer to a call of a tool that was not offered, whether or not the session would allow it. */
export function notOffered(name: string): ToolCallResult {
  return refusedCall([
    new ToolError('E_POLICY', `Tool is not offered: ${name.slice(0, 100)}`, {
      details: { gate: 'route', reason: 'not_offered', next: 'use one of the tools of this conversation' },
    }).toEntry(),
  ]);
}

/** A tool without some of its optional arguments, by the embedder's choice: the model never learns of them. */
export function omitProperties(tool: ToolDescription, omitted: readonly string[]): ToolDescription {
  if (omitted.length === 0) return tool;
  const properties = propertiesOf(tool.inputSchema);
  const required = requiredOf(tool.inputSchema);
  for (const name of omitted) {
    if (!Object.hasOwn(properties, name)) throw new TypeError(`No such argument to omit: ${tool.name}.${name}`);
    if (required.has(name)) throw new TypeError(`Required argument cannot be omitted: ${tool.name}.${name}`);
  }
  const kept = Object.entries(properties).filter(([name]) => !omitted.includes(name));
  return { ...tool, inputSchema: { ...tool.inputSchema, properties: Object.fromEntries(kept) } };
}
