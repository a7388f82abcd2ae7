/** A result as the wrapper builds it: the empty one a run starts with, its text on disk and its digest. */
import type { JsonObject, JsonValue } from '@tool-runtime/protocol';
import type { ExternalProfile, RunOutput, RunResult } from '../../contracts/external.ts';
import { canonicalJson, digest } from '../../platform/digest.ts';
import { formatTimestamp } from '../protocol/digests.ts';
import { PROTOCOL_VERSION, RESULT_SCHEMA_VERSION } from '../protocol/protocol-constants.ts';
import { type FieldRule, RESULT_SHAPE, type Shape } from '../protocol/read-result.ts';

const WRAPPER_NAMES: Readonly<Record<ExternalProfile, string>> = { neutral: 'tool-runtime', epack: 'epack' };

type WrapperInfo = RunResult['wrapper'];
type ToolInfo = RunResult['tool'];

export function newWrapperInfo(profile: ExternalProfile, version: string): WrapperInfo {
  return { name: WRAPPER_NAMES[profile], version };
}

interface NewToolInfo {
  readonly name: string;
  readonly version: string;
  /** 0 or left out: the current one. */
  readonly protocolVersion?: number;
}

export function newToolInfo({ name, version, protocolVersion }: NewToolInfo): ToolInfo {
  return { name, version, protocol_version: protocolVersion || PROTOCOL_VERSION };
}

interface NewResult {
  readonly wrapper: WrapperInfo;
  readonly tool: ToolInfo;
  readonly runId: string;
  readonly startedAtMs: number;
}

export function newResult({ wrapper, tool, runId, startedAtMs }: NewResult): RunResult {
  const startedAt = formatTimestamp(startedAtMs);
  return {
    schema_version: RESULT_SCHEMA_VERSION,
    wrapper,
    tool,
    run_id: runId,
    started_at: startedAt,
    completed_at: startedAt,
    duration_ms: 0,
    exit_code: 0,
    tool_exit_code: null,
    status: 'success',
    inputs: {},
    outputs: [],
    errors: [],
    warnings: [],
  };
}

/**
 * The text of `result.json`: known fields in the protocol's order, then unknown ones; optional ones only when filled.
 * Indented JSON with a newline at the end.
 */
export function resultText(result: RunResult | (RunResult & JsonObject)): string {
  return `${JSON.stringify(ordered(result as unknown as JsonObject, RESULT_SHAPE), null, 2)}\n`;
}

function ordered(value: JsonObject, shape: Shape): JsonObject {
  const entries: [string, JsonValue][] = [];
  for (const [name, rule] of Object.entries(shape)) {
    const found = value[name];
    if (found === undefined) continue;
    const shown = rule.fields === undefined || found === null ? found : orderedInside(found, rule.fields);
    if (!isLeftOut(shown, rule)) entries.push([name, shown]);
  }
  for (const [name, found] of Object.entries(value)) if (!Object.hasOwn(shape, name)) entries.push([name, found]);
  return Object.fromEntries(entries);
}

function orderedInside(value: JsonValue, shape: Shape): JsonValue {
  if (Array.isArray(value)) return value.map((item) => ordered(item as JsonObject, shape));
  return ordered(value as JsonObject, shape);
}

/** What the protocol leaves out: blank text, zero, false, null and objects with nothing in them. */
function isLeftOut(value: JsonValue, { type, zero, always }: FieldRule): boolean {
  if (always === true || zero !== undefined) return false;
  // Details may be any value, and only null means none.
  if (type === 'any') return value === null;
  if (value === null || value === '' || value === 0 || value === false) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

type DigestedRun = Pick<RunResult, 'tool' | 'inputs' | 'pack_digest' | 'outputs' | 'status'>;

/**
 * What a run did, as one digest: equal for runs that used the same tool on the same things with the same outcome.
 * Times, ids, identity and messages stay out, because they differ from run to run. Outputs count by path and digest, in
 * any order.
 */
export function runDigest(result: DigestedRun): string {
  return digest(
    canonicalJson({
      tool: { name: result.tool.name, version: result.tool.version },
      inputs: result.inputs,
      pack_digest: result.pack_digest || null,
      outputs: result.outputs.map(named).sort(byName),
      status: result.status,
    }),
  );
}

type NamedDigest = readonly [path: string, digest: string | null];

function named(output: RunOutput): NamedDigest {
  return [output.path, output.digest || null];
}

function byName(a: NamedDigest, b: NamedDigest): number {
  const [left, right] = [JSON.stringify(a), JSON.stringify(b)];
  return left < right ? -1 : Number(left > right);
}
