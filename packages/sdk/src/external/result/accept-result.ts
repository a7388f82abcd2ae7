/**
 * What becomes of the file a tool left as its result.
 *
 * The tool says what it did (inputs, outputs, errors, warnings, unknown fields); the wrapper knows who ran, when, how
 * it ended and from where, and its word replaces the tool's. A file that names another run, tool or wrapper is not
 * about this run and counts as invalid. A valid file with which all that agrees stays byte for byte; otherwise the
 * merged result is written and the tool's bytes stay beside it, so nothing it said is lost.
 */
import { isDeepStrictEqual } from 'node:util';
import { isToolError, type JsonObject, type JsonValue } from '@tool-runtime/protocol';
import type { RunEntry, RunFile, RunOutput, RunResult } from '../../contracts/external.ts';
import type { KnownSecrets } from '../../contracts/redaction.ts';
import { shownPath } from '../../platform/descriptors/path-rules.ts';
import { sameDigest } from '../protocol/digests.ts';
import { EXTERNAL_LIMITS, RESULT_FILE, RESULT_SCHEMA_VERSION, type RunCode } from '../protocol/protocol-constants.ts';
import { parseResult, validateResult } from '../protocol/read-result.ts';
import { computeStatus, type RunState } from '../protocol/run-status.ts';
import type { FinishResult } from './finish-result.ts';

export interface AcceptInput {
  /** What was read under `result.json`. */
  readonly file: RunFile;
  /**
   * The result as the wrapper would write it had the tool written none: every fact filled in, with the errors and
   * warnings the wrapper itself found. `tool_exit_code` null means that the tool never ran.
   */
  readonly expected: RunResult;
  readonly checkOutput: CheckOutput;
  /** What lies below `outputs/`: without a usable result, that is what the run made. Left out: nothing is looked for. */
  readonly findOutputs?: () => Promise<readonly string[]>;
  /** Comes last and must not add errors or warnings: the status is settled by then. */
  readonly finish: FinishResult;
}

export interface AcceptedResult {
  readonly state: Exclude<RunState, 'created'>;
  readonly result: RunResult;
  /** The tool's file goes aside before the result is written. */
  readonly keepOriginal: boolean;
  /** False only when the tool's file is the result, byte for byte. */
  readonly rewrite: boolean;
  /** Fields in which the tool's file said something else. */
  readonly corrected: readonly string[];
}

/** Of a file about which only the wrapper speaks. */
const UNKNOWN_TYPE = 'application/octet-stream';

export async function acceptToolResult(input: AcceptInput): Promise<AcceptedResult> {
  const { file, expected } = input;
  if (expected.tool_exit_code === null) return backfill(input, 'exec_failed', []);
  if (file === 'missing') {
    return backfill(input, 'backfilled', [warning('RESULT_MISSING', 'The tool wrote no result', file)]);
  }
  const claim = readClaim(file, expected);
  return claim.isValid ? merge(claim, input) : backfill(input, 'backfilled', [claim.warning]);
}

async function backfill(
  { file, expected, finish, checkOutput, findOutputs }: AcceptInput,
  state: 'exec_failed' | 'backfilled',
  warnings: readonly RunEntry[],
): Promise<AcceptedResult> {
  const found = state === 'backfilled' ? ((await findOutputs?.()) ?? []) : [];
  const kept = await judgeOutputs(
    found.map((path) => ({ path, media_type: UNKNOWN_TYPE })),
    checkOutput,
  );
  const allWarnings = [...expected.warnings, ...warnings, ...kept.warnings];
  return {
    state,
    result: finish(judged({ ...expected, outputs: kept.outputs, warnings: allWarnings })),
    keepOriginal: file !== 'missing',
    rewrite: true,
    corrected: [],
  };
}

interface ValidClaim {
  readonly isValid: true;
  /** As it was written, to compare with. */
  readonly written: JsonObject;
  readonly result: RunResult & JsonObject;
}

type Claim = ValidClaim | { readonly isValid: false; readonly warning: RunEntry };

function readClaim(file: Exclude<RunFile, 'missing'>, expected: RunResult): Claim {
  if (file === 'too_large') return invalid(`Result is over ${EXTERNAL_LIMITS.resultBytes} bytes`, file);
  if (file === 'unreadable') return invalid('Result is not a readable file', file);
  try {
    const written = parseResult(file);
    const result = validateResult(written);
    const foreign = foreignField(result, expected);
    if (foreign === undefined) return { isValid: true, written, result };
    return invalid(`Result is not about this run: ${foreign}`, 'foreign');
  } catch (thrown) {
    if (!isToolError(thrown)) throw thrown;
    return invalid(thrown.message, String(thrown.details['reason'] ?? 'invalid'));
  }
}

function invalid(message: string, reason: string): Claim {
  return { isValid: false, warning: warning('RESULT_INVALID', message, reason) };
}

function warning(code: RunCode, message: string, reason: string): RunEntry {
  return { code, message, details: { reason } };
}

function foreignField(claimed: RunResult, expected: RunResult): string | undefined {
  if (claimed.schema_version !== RESULT_SCHEMA_VERSION) return 'schema_version';
  if (claimed.run_id !== expected.run_id) return 'run_id';
  if (claimed.tool.name !== expected.tool.name) return 'tool.name';
  return claimed.wrapper.name === expected.wrapper.name ? undefined : 'wrapper.name';
}

/** Where the wrapper knows better. One it has nothing to say about (no pack, no signer) is taken away. */
const WRAPPER_FACTS = [
  'wrapper',
  'tool',
  'pack_path',
  'pack_digest',
  'started_at',
  'completed_at',
  'duration_ms',
  'exit_code',
  'tool_exit_code',
  'run_digest',
  'signing',
  'resolved_from',
] as const satisfies readonly (keyof RunResult)[];

async function merge({ written, result: claimed }: ValidClaim, input: AcceptInput): Promise<AcceptedResult> {
  const { expected, finish, checkOutput } = input;
  const { outputs, warnings } = await judgeOutputs(claimed.outputs, checkOutput);
  const merged: Record<string, unknown> = {
    ...claimed,
    outputs,
    errors: [...claimed.errors, ...expected.errors],
    warnings: [...claimed.warnings, ...expected.warnings, ...warnings],
  };
  for (const field of WRAPPER_FACTS) {
    if (expected[field] === undefined) delete merged[field];
    else merged[field] = expected[field];
  }
  const result = finish(judged(merged as unknown as RunResult));
  const corrected = differing(written, result as unknown as JsonObject);
  const isSame = corrected.length === 0;
  return { state: 'tool_result_valid', result, keepOriginal: !isSame, rewrite: !isSame, corrected };
}

function judged(result: RunResult): RunResult {
  const { errors, warnings, exit_code: exitCode } = result;
  return { ...result, status: computeStatus({ errors, warnings, exitCode }) };
}

function differing(written: JsonObject, result: JsonObject): string[] {
  const fields = new Set([...Object.keys(written), ...Object.keys(result)]);
  return [...fields].filter((field) => !isDeepStrictEqual(written[field], result[field])).sort();
}

/** Throws ToolError E_VALIDATION_FAIL for a path that may not be an output. */
export type CheckOutput = (path: string) => Promise<{ readonly bytes: number; readonly digest: string }>;

interface JudgedOutputs {
  readonly outputs: readonly RunOutput[];
  readonly warnings: readonly RunEntry[];
}

/**
 * Looks at each file a tool says it made: digest and size are filled in or confirmed, anything else is dropped with a
 * warning, so that the run is at best partial.
 */
export async function judgeOutputs(claimed: readonly RunOutput[], check: CheckOutput): Promise<JudgedOutputs> {
  const outputs: RunOutput[] = [];
  const warnings: RunEntry[] = [];
  const seen = new Set<string>();
  for (const output of claimed.slice(0, EXTERNAL_LIMITS.outputs)) {
    const judged = seen.has(output.path) ? 'listed_twice' : await judgeOutput(output, check);
    seen.add(output.path);
    if (typeof judged === 'string') warnings.push(dropped(judged, output.path));
    else outputs.push(judged);
  }
  if (claimed.length > EXTERNAL_LIMITS.outputs) warnings.push(dropped('too_many'));
  return { outputs, warnings };
}

/** The entry as it is in fact, or why it is dropped. */
async function judgeOutput(output: RunOutput, check: CheckOutput): Promise<RunOutput | string> {
  // It is about to be rewritten, and its digest with it.
  if (output.path === RESULT_FILE) return 'reserved';
  try {
    const { bytes, digest } = await check(output.path);
    if (output.digest && !sameDigest(output.digest, digest)) return 'digest_mismatch';
    return { ...output, digest, bytes };
  } catch (thrown) {
    if (!isToolError(thrown) || thrown.code !== 'E_VALIDATION_FAIL') throw thrown;
    return String(thrown.details['reason'] ?? 'invalid');
  }
}

function dropped(reason: string, path?: string): RunEntry {
  const about = path === undefined ? {} : { path: shownPath(path) };
  return { code: 'INVALID_OUTPUT_PATH', message: `Output was dropped: ${reason}`, ...about, details: { reason } };
}

/**
 * Takes secret values that were passed on out of a tool's own result, however they are spelled in its JSON. Undefined
 * when there is nothing to take out.
 */
export function scrubResult(bytes: Uint8Array, secrets: KnownSecrets): string | undefined {
  const text = Buffer.from(bytes).toString('utf8');
  const plain = secrets.text(text);
  return escaped(plain, secrets) ?? (plain === text ? undefined : plain);
}

/** Escapes can hide a value from the text; they cannot hide it from a reader. */
function escaped(text: string, secrets: KnownSecrets): string | undefined {
  try {
    const value = JSON.parse(text) as JsonValue;
    const clean = secrets.json(value);
    return clean === value ? undefined : JSON.stringify(clean, null, 2);
  } catch {
    // No JSON: it will be refused as a result, and what is kept of it has been cleaned as text.
    return undefined;
  }
}
