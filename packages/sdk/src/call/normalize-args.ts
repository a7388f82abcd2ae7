/**
 * From what was sent to the call that is checked and run: aliases rewritten, required keys present, schema satisfied,
 * paths and commands read. From here on the arguments are the tool's own, and nothing reads them a second time.
 */
import {
  describeIssues,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  ToolError,
  utf8Length,
} from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';
import { z } from 'zod';
import { mutationClass, sideEffectRank } from '../contracts/annotations.ts';
import type { CommandList } from '../contracts/command-list.ts';
import { contractViolation } from '../contracts/failures.ts';
import type { Registry } from '../contracts/registry.ts';
import type { CheckedCommand } from '../contracts/rule.ts';
import type { CallProfile } from '../contracts/tool.ts';
import { checkForm, declaredPaths } from '../policy/declared-paths.ts';
import { secretsIn, shownArgs } from '../redaction/call-args.ts';
import { readCommand } from '../shell/read-command.ts';
import { readScript } from '../shell/read-script.ts';
import { nearestName } from '../text/names.ts';
import type { Call, OpenCall } from './state/call-types.ts';
import { commandFacts } from './state/command-facts.ts';
import type { CompiledTool, IdentityParts, RecordingParts, SessionParts } from './state/session-parts.ts';
import { noteRequested } from './state/trail.ts';
import { pathRuleOf } from './tool-context/permissions.ts';

export function normalizeArgs(open: OpenCall, compiled: CompiledTool, raw: unknown, parts: SessionParts): Call {
  const { tool, annotations, annotated } = compiled;
  const { arg_schema: schema } = annotations;
  // First, so that no message or record below can show them.
  parts.redactor.learn(secretsIn(raw, schema));
  const args = parseArgs(compiled, raw, parts);
  const argsHash = hashOf(tool.name, args, parts);
  const paths = [...declaredPaths(args, schema.path_params), ...(tool.pathsInText?.(args) ?? [])];
  const urls = declaredPaths(args, schema.url_params);
  const profile = profileOf(compiled, args, parts);
  const pathRule = pathRuleOf(compiled, { args, paths, profile }, parts);
  const argsSummary = summaryOf(compiled, args, parts);
  const commands = commandsIn(args, schema.command_params, parts.registry.shell.mode);
  const details = requestDetails(inTransaction(tool.recordDetails?.(args), parts), commands, parts);
  noteRequested(open, { argsHash, argsSummary, details }, parts);
  parts.sealed?.keep({ callId: open.callId, tool: tool.name, args });
  const limitMs = limitOf(compiled, args);
  open.time.limit(limitMs, compiled.timeoutMs === tool.timeoutMs ? COMMIT_GATE_MS : 0);
  checkForm({ tool: tool.name, paths, urls });
  const subject = Object.freeze({
    tool: tool.name,
    args,
    paths,
    urls,
    commands,
    environments: present(args, schema.env_params),
    profile,
    changes: [],
    git: tool.git?.(args),
  });
  open.progress.mutationClass = annotated ? mutationClass(profile.kind) : 'other';
  return {
    open,
    compiled,
    subject,
    argsHash,
    argsSummary,
    mutationClass: open.progress.mutationClass,
    limitMs,
    pathRule,
    workspace: pathRule === undefined ? parts.workspace : parts.workspace.under(pathRule),
  };
}

function inTransaction(own: JsonObject | undefined, { transaction }: SessionParts): JsonObject | undefined {
  if (transaction === undefined || transaction instanceof ToolError) return own;
  return { ...own, tx_id: transaction.id };
}

function requestDetails(
  own: JsonObject | undefined,
  commands: readonly CheckedCommand[],
  { redactor }: RecordingParts,
): JsonObject | undefined {
  const facts = commands.length === 0 ? undefined : commandFacts(commands, redactor);
  return facts === undefined ? own : { ...own, ...facts };
}

/** Builds and tests take longer than the verb they check. A limit that the registry or the caller sets covers them too. */
const COMMIT_GATE_MS = 1_200_000;

/** The caller may lower the limit by argument or by request, never raise it past the tool's maximum. */
function limitOf({ tool, timeoutMs, maxTimeoutMs }: CompiledTool, args: JsonObject): number {
  const asked = tool.timeoutArg === undefined ? undefined : args[tool.timeoutArg];
  return Math.min(typeof asked === 'number' ? asked : timeoutMs, maxTimeoutMs);
}

/** Commands and URLs lose their secrets by position; of private arguments the size is shown as it was sent. */
function summaryOf({ tool, annotations }: CompiledTool, args: JsonObject, parts: RecordingParts): string {
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

/** Parsed once, on first use: the rule that checks a command and the tool that starts it hold the same list. */
function commandsIn(
  args: JsonObject,
  keys: readonly string[],
  mode: Registry['shell']['mode'],
): readonly CheckedCommand[] {
  if (keys.length === 0) return NOTHING;
  return present(args, keys).map(({ key, value }) => {
    let parsed: CommandList | undefined;
    return {
      key,
      value,
      list: () => {
        parsed ??= mode === 'sandboxed' ? readScript(value) : readCommand(value);
        return parsed;
      },
    };
  });
}

function parseArgs({ tool, annotations }: CompiledTool, raw: unknown, parts: SessionParts): JsonObject {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    throw new ToolError('E_VALIDATION_FAIL', `Arguments must be an object: ${tool.name}`, {
      path: 'args',
      details: { gate: 'arguments', next: `see the argument schema of ${tool.name}` },
    });
  }
  refuseHostileShape(raw, tool.name, parts.registry.limits.max_request_bytes);
  const rewritten = readableArgs({ tool, annotations }, raw as Args, parts.workspace.rootPath);
  // Only a refusal shows them.
  const unknownHere = (): UnknownFields => unknownFields(rewritten, { tool, annotations });
  requireKeys(rewritten, annotations.arg_schema.required, tool.name, unknownHere);
  const parsed = tool.args.safeParse(rewritten);
  if (parsed.success) return parsed.data as JsonObject;
  const unknown = unknownHere();
  const described = describeIssues(parsed.error, rewritten);
  throw new ToolError('E_VALIDATION_FAIL', `Bad arguments for ${tool.name}: ${described.message}${unknown.meant}`, {
    ...(described.path === undefined ? {} : { path: described.path }),
    details: {
      gate: 'arguments',
      issues: described.issues.map((issue) => ({ ...issue })),
      ...nextFor(unknown, parsed.error.issues, tool),
    },
  });
}

type ToolArgs = Pick<CompiledTool, 'tool' | 'annotations'>;

/** Replaces aliases by the tool's own names and makes paths relative. All later stages see only this form. */
function readableArgs({ tool, annotations }: ToolArgs, raw: Args, root: string): Args {
  const { arg_aliases: aliases, path_params: paths, list_params: lists = NOTHING } = annotations.arg_schema;
  const inner = (item: JsonValue): JsonValue =>
    isJsonObject(item) ? readableArgs({ tool, annotations }, item, root) : item;
  const named = withLists(rewriteAliases(raw, aliases), lists, inner);
  return withRelative(withRelative(named, paths, root), tool.globArgs ?? NOTHING, root);
}

/** The same object where no path changes. */
function withRelative(args: Args, keys: readonly string[], root: string): Args {
  let moved = args;
  for (const key of keys) {
    if (!Object.hasOwn(args, key)) continue;
    const value = args[key] ?? null;
    const relative = insideRoot(value, root);
    if (relative !== value) moved = { ...moved, [key]: relative };
  }
  return moved;
}

function withLists(args: Args, lists: readonly string[], inner: (item: JsonValue) => JsonValue): Args {
  if (lists.length === 0) return args;
  const held = lists.filter((key) => Object.hasOwn(args, key) && Array.isArray(args[key]));
  if (held.length === 0) return args;
  return { ...args, ...Object.fromEntries(held.map((key) => [key, (args[key] as JsonValue[]).map(inner)])) };
}

/**
 * An absolute path below the root becomes the relative one. That is a matter of text: what is left is checked and
 * resolved like any other path. Anything else stays as it is, for the gates to refuse.
 */
function insideRoot(value: JsonValue, root: string): JsonValue {
  if (Array.isArray(value)) {
    const moved = value.map((inner: JsonValue) => insideRoot(inner, root));
    return moved.every((inner, at) => inner === value[at]) ? value : moved;
  }
  if (typeof value !== 'string' || !value.startsWith('/') || root === '/') return value;
  if (value === root) return '.';
  return value.startsWith(`${root}/`) ? value.slice(root.length + 1) || '.' : value;
}

interface UnknownFields {
  readonly names: readonly string[];
  readonly known: readonly string[];
  /** ` (did you mean x?)` for the first one that is near a known field. */
  readonly meant: string;
}

const NO_UNKNOWN_FIELDS: UnknownFields = { names: [], known: [], meant: '' };

/** The fields there are, where one was given that is not among them, at the top or further inside. */
function nextFor({ names, known }: UnknownFields, issues: readonly z.core.$ZodIssue[], tool: CompiledTool['tool']) {
  if (names.length > 0) return { next: `the fields of ${tool.name} are ${known.join(', ')}` };
  const inside = issues.find(({ code }) => code === 'unrecognized_keys')?.path;
  const fields = inside === undefined ? [] : fieldsAt(tool.args, inside);
  return fields.length === 0 ? {} : { next: `the fields of ${inside?.join('.')} are ${fields.join(', ')}` };
}

/** Names the schema lists at a path; none where it is not a plain object there. */
function fieldsAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): readonly string[] {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodOptional) return fieldsAt(schema.unwrap(), path);
  const [first, ...rest] = path;
  if (schema instanceof z.ZodArray && first !== undefined) return fieldsAt(schema.element, rest);
  if (!(schema instanceof z.ZodObject)) return [];
  if (first === undefined) return Object.keys(schema.shape);
  const inner = schema.shape[String(first)];
  return inner === undefined ? [] : fieldsAt(inner, rest);
}

/** Only where the tool itself lists its fields: a foreign schema is not looked into. */
function unknownFields(args: Args, { tool, annotations }: ToolArgs): UnknownFields {
  if (tool.args.def.catchall?.def.type !== 'never') return NO_UNKNOWN_FIELDS;
  const names = Object.keys(args).filter((name) => !Object.hasOwn(tool.args.shape, name));
  if (names.length === 0) return NO_UNKNOWN_FIELDS;
  const known = Object.keys(tool.args.shape);
  if (known.length === 0) return NO_UNKNOWN_FIELDS;
  const candidates = [...known, ...Object.keys(annotations.arg_schema.arg_aliases)];
  const hints = names.flatMap((name) => nearestName(name, candidates) ?? []);
  return { names, known, meant: hints[0] === undefined ? '' : ` (did you mean ${hints[0]}?)` };
}

/** Arguments as the tool saw them, for a call that was made; nothing where they do not fit. */
export function readArgs({ tool, annotations }: CompiledTool, raw: unknown, root: string): JsonObject {
  if (!isJsonObject(raw)) return {};
  const parsed = tool.args.safeParse(readableArgs({ tool, annotations }, raw, root));
  return parsed.success ? (parsed.data as JsonObject) : {};
}

/** Less than the limit for texts, so that a request is refused for the same reason whichever way it came in. */
const MAX_ARGS_DEPTH = 48;

/**
 * What the scan of texts refuses, for arguments that came as objects: too deep, too large, `__proto__`. A cycle ends at
 * the limits too. The size is that of the keys and texts, so it is never more than the JSON text would have.
 */
function refuseHostileShape(value: object, tool: string, maxBytes: number): void {
  let bytes = 0;
  const count = (text: string): void => {
    bytes += utf8Length(text);
    if (bytes > maxBytes) {
      const next = 'send less at a time, or raise limits.max_request_bytes in the registry';
      throw hostileShape('too_large', `larger than ${maxBytes} bytes`, { tool, next });
    }
  };
  const visit = (inner: unknown, depth: number): void => {
    if (typeof inner === 'string') count(inner);
    if (typeof inner !== 'object' || inner === null) return;
    if (depth >= MAX_ARGS_DEPTH) throw hostileShape('too_deep', `deeper than ${MAX_ARGS_DEPTH} levels`, { tool });
    for (const key of Object.keys(inner)) {
      if (key === '__proto__') throw hostileShape('forbidden_key', 'with a forbidden key, __proto__', { tool });
      count(key);
      visit((inner as Record<string, unknown>)[key], depth + 1);
    }
  };
  visit(value, 0);
}

function hostileShape(
  reason: string,
  what: string,
  { tool, next = `send plain JSON that fits the argument schema of ${tool}` }: { tool: string; next?: string },
): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Arguments are ${what}: ${tool}`, {
    path: 'args',
    details: { gate: 'arguments', reason, next },
  });
}

/** What has no canonical form (a lone surrogate, a cycle from an in-process caller) cannot be recorded, so it cannot run. */
function hashOf(tool: string, args: JsonObject, parts: RecordingParts): string {
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

function profileOf(compiled: CompiledTool, args: JsonObject, { registry }: IdentityParts): CallProfile {
  const narrowed = compiled.tool.profile?.(args, registry);
  return narrowed === undefined ? compiled.staticProfile : narrowProfile(compiled.staticProfile, narrowed);
}

/** A tool's static profile is the worst case: what it says about one call may not go beyond it. */
export function narrowProfile(worst: CallProfile, forCall: Partial<CallProfile>): CallProfile {
  const level = forCall.side_effect_level ?? worst.side_effect_level;
  if (sideEffectRank(level) > sideEffectRank(worst.side_effect_level)) {
    throw contractViolation(`Tool profile exceeds its declared side-effect level: ${level}`, {
      declared: worst.side_effect_level,
    });
  }
  return { ...worst, ...forCall };
}

type Args = Readonly<Record<string, JsonValue>>;

/**
 * Moves values from alias keys to the keys the tool reads, before anything is checked. A value may arrive under one name
 * only: with two, the gates could check one and the tool use the other. Returns the same object when no alias
 * is present. Throws E_VALIDATION_FAIL when a value has two names.
 */
export function rewriteAliases(args: Args, aliases: Readonly<Record<string, string>>): Args {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return args;
  const present = Object.keys(aliases).filter((alias) => isRewritten(alias, aliases[alias], args));
  if (present.length === 0) return args;
  const moved = new Map<string, string>();
  for (const alias of present.sort()) {
    const canonical = aliases[alias] ?? alias;
    const other = moved.get(canonical) ?? (Object.hasOwn(args, canonical) ? canonical : undefined);
    if (other !== undefined) throw ambiguous(alias, other, canonical);
    moved.set(canonical, alias);
  }
  const rewritten: Record<string, JsonValue> = { ...args };
  for (const alias of moved.values()) delete rewritten[alias];
  for (const [canonical, alias] of moved) rewritten[canonical] = args[alias] ?? null;
  return rewritten;
}

/** `__proto__` is not the name of an argument: assigning to it would change the object, not the argument. */
function isRewritten(alias: string, canonical: string | undefined, args: Args): boolean {
  if (alias === canonical || alias === '__proto__' || canonical === '__proto__') return false;
  return Object.hasOwn(args, alias);
}

function ambiguous(alias: string, other: string, canonical: string): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Argument is given under two names: ${alias} and ${other}`, {
    path: alias,
    details: { gate: 'arguments', reason: 'ambiguous_alias', next: `give ${canonical} only` },
  });
}

/** Keys a call must carry, whatever the schema says; null counts as missing. Throws once, with every missing key. */
export function requireKeys(
  args: Args,
  required: readonly string[],
  tool: string,
  findUnknown = (): UnknownFields => NO_UNKNOWN_FIELDS,
): void {
  const missing = required.filter((key) => !Object.hasOwn(args, key) || args[key] === null || args[key] === undefined);
  if (missing.length === 0) return;
  const unknown = findUnknown();
  const others = unknown.names.map((name) => safeText(name, 60)).join(', ');
  const strange = others === '' ? '' : `; not a known field: ${others}${unknown.meant}`;
  throw new ToolError(
    'E_VALIDATION_FAIL',
    `Required arguments are missing for ${tool}: ${missing.join(', ')}${strange}`,
    {
      details: { gate: 'arguments', reason: 'missing_keys', missing, next: `give ${missing.join(', ')}` },
      ...(missing[0] === undefined ? {} : { path: missing[0] }),
    },
  );
}
