/** Aliases rewritten, required keys present, schema satisfied: from here on the arguments are the tool's own. */
import { describeIssues, type JsonObject, type JsonValue, ToolError } from '@tool-runtime/protocol';
import { mutationClass } from '../contracts/annotations.ts';
import type { CallProfile } from '../contracts/tool.ts';
import { checkForm } from '../policy/check-form.ts';
import { declaredPaths } from '../policy/declared-paths.ts';
import { narrowProfile } from '../policy/narrow-profile.ts';
import { requireKeys } from '../policy/required-keys.ts';
import { rewriteAliases } from '../policy/rewrite-aliases.ts';
import { secretsIn, shownArgs } from '../redaction/call-args.ts';
import type { OpenCall, ReadyCall } from './state/call-types.ts';
import type { CompiledTool, SessionParts } from './state/session-parts.ts';
import { noteRequested } from './state/trail.ts';
import { pathRuleOf } from './tool-context/path-rule-of.ts';

export function normalizeArgs(open: OpenCall, compiled: CompiledTool, raw: unknown, parts: SessionParts): ReadyCall {
  const { tool, annotations, route } = compiled;
  // Before anything can be said about them.
  parts.redactor.learn(secretsIn(raw, annotations.arg_schema));
  const args = parseArgs(compiled, raw);
  const argsHash = hashOf(tool.name, args, parts);
  const paths = declaredPaths(args, annotations.arg_schema.path_params);
  const urls = declaredPaths(args, annotations.arg_schema.url_params);
  const profile = profileOf(compiled, args, parts);
  const pathRule = pathRuleOf(compiled, { args, paths, profile }, parts);
  const argsSummary = summaryOf(compiled, args, parts);
  noteRequested(open, { argsHash, argsSummary, details: tool.recordDetails?.(args) }, parts);
  const limitMs = limitOf(compiled, args);
  open.time.limit(limitMs);
  checkForm({ tool: tool.name, paths, urls });
  return {
    open,
    compiled,
    args,
    argsHash,
    limitMs,
    pathRule,
    workspace: pathRule === undefined ? parts.workspace : parts.workspace.under(pathRule),
    subject: {
      tool: tool.name,
      args,
      paths,
      urls,
      commands: present(args, annotations.arg_schema.command_params),
      environments: present(args, annotations.arg_schema.env_params),
      profile,
      changes: [],
      git: tool.git?.(args),
    },
    view: {
      callId: open.callId,
      sessionId: open.sessionId,
      tool: tool.name,
      args,
      argsSummary,
      profile,
      mutationClass: compiled.annotated ? mutationClass(profile.kind) : 'other',
      paths: paths.map((path) => path.value),
      actor: parts.actor,
      policyRefs: route.policy_refs,
      source: parts.source,
      destination: route.destination,
    },
  };
}

/** The caller may lower the limit by argument or by request, never raise it past the tool's maximum. */
function limitOf({ tool, timeoutMs, maxTimeoutMs }: CompiledTool, args: JsonObject): number {
  const asked = tool.timeoutArg === undefined ? undefined : args[tool.timeoutArg];
  return Math.min(typeof asked === 'number' ? asked : timeoutMs, maxTimeoutMs);
}

/** Commands and URLs lose their secrets by position; of private arguments the size is told as it was sent. */
function summaryOf({ tool, annotations }: CompiledTool, args: JsonObject, parts: SessionParts): string {
  const { privateArgs = [] } = tool;
  const shown = shownArgs(args, annotations.arg_schema, parts.redactor);
  const sized = Object.fromEntries(privateArgs.flatMap((name) => (name in args ? [[name, args[name] ?? null]] : [])));
  return parts.summarizeArgs({ ...shown, ...sized }, privateArgs) || '(no arguments)';
}

const NOTHING: readonly never[] = [];

function present(args: JsonObject, keys: readonly string[]): readonly { key: string; value: JsonValue }[] {
  if (keys.length === 0) return NOTHING;
  return keys.flatMap((key) => {
    const value = args[key];
    return value === undefined || value === null ? [] : [{ key, value }];
  });
}

function parseArgs({ tool, annotations }: CompiledTool, raw: unknown): JsonObject {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    throw new ToolError('E_VALIDATION_FAIL', `Arguments must be an object: ${tool.name}`, {
      path: 'args',
      details: { gate: 'arguments', next: `see the argument schema of ${tool.name}` },
    });
  }
  refuseHostileShape(raw, 0, tool.name);
  const rewritten = rewriteAliases(raw as Record<string, JsonValue>, annotations.arg_schema.arg_aliases);
  requireKeys(rewritten, annotations.arg_schema.required, tool.name);
  const parsed = tool.args.safeParse(rewritten);
  if (parsed.success) return parsed.data as JsonObject;
  const described = describeIssues(parsed.error, rewritten);
  throw new ToolError('E_VALIDATION_FAIL', `Bad arguments for ${tool.name}: ${described.message}`, {
    ...(described.path === undefined ? {} : { path: described.path }),
    details: { gate: 'arguments', issues: described.issues.map((issue) => ({ ...issue })) },
  });
}

/** Less than the limit for texts, so that a request is refused for the same reason whichever way it came in. */
const MAX_ARGS_DEPTH = 48;

/** What the scan of texts refuses, for arguments that came as objects. A cycle ends at the limit as well. */
function refuseHostileShape(value: object, depth: number, tool: string): void {
  if (depth >= MAX_ARGS_DEPTH) throw hostileShape('too_deep', `deeper than ${MAX_ARGS_DEPTH} levels`, tool);
  for (const key of Object.keys(value)) {
    if (key === '__proto__') throw hostileShape('forbidden_key', 'with a forbidden key, __proto__', tool);
    const inner = (value as Record<string, unknown>)[key];
    if (typeof inner === 'object' && inner !== null) refuseHostileShape(inner, depth + 1, tool);
  }
}

function hostileShape(reason: string, what: string, tool: string): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Arguments are ${what}: ${tool}`, {
    path: 'args',
    details: { gate: 'arguments', reason, next: `send plain JSON that fits the argument schema of ${tool}` },
  });
}

/** What has no canonical form (a lone surrogate, a cycle from an in-process caller) cannot be recorded, so it cannot run. */
function hashOf(tool: string, args: JsonObject, parts: SessionParts): string {
  try {
    return parts.hashArgs(tool, args);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'not JSON';
    throw new ToolError('E_VALIDATION_FAIL', `Arguments have no JSON form (${why}): ${tool}`, {
      path: 'args',
      details: { gate: 'arguments' },
      cause,
    });
  }
}

function profileOf(compiled: CompiledTool, args: JsonObject, { registry }: SessionParts): CallProfile {
  const narrowed = compiled.tool.profile?.(args, registry);
  return narrowed === undefined ? compiled.staticProfile : narrowProfile(compiled.staticProfile, narrowed);
}
