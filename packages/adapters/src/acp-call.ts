/**
 * A call in the words of the Agent Client Protocol and back: kind, status, places, diffs, raw input and output.
 *
 * Kinds are the same words on both sides, but for the protocol's `switch_mode`, which is read as `other` and never sent.
 */
import { isAbsolute, relative, resolve } from 'node:path';
import { isJsonValue, type ToolResponse } from '@tool-runtime/protocol';
import { parseToolKind, type ToolKind } from '@tool-runtime/sdk';
import { acpStatus, acpToolCallUpdate, createRedactor } from '@tool-runtime/sdk/parts';
import { acpDiffs, type TextChange } from './acp-diffs.ts';
import type { AcpContent, AcpLocation, AcpStatus, AcpToolCall, AcpToolCallUpdate } from './acp-types.ts';
import { boundText, refusalText } from './answer-text.ts';

/** A call as far as an editor shows it. */
export interface AcpCall {
  readonly callId: string;
  readonly title: string;
  readonly kind: ToolKind;
  readonly args: unknown;
  /** Paths the call is about, relative to the workspace root; by default those found in the arguments. */
  readonly paths?: readonly string[];
  readonly changes?: readonly TextChange[];
  /** Texts of files before the call, by the path the call names; a write without it is shown without a diff. */
  readonly before?: ReadonlyMap<string, string | null>;
}

export interface AcpOptions {
  /** Absolute path of the workspace root. */
  readonly workspace: string;
  /** Values to keep out of what the editor is sent, in addition to what looks like a secret. */
  readonly secrets?: readonly string[];
}

/** The first report of a call: it is known and waits, for the gates or for a person. */
export function toAcpToolCall(call: AcpCall, options: AcpOptions): AcpToolCall {
  return {
    ...acpToolCallUpdate(call, 'requested'),
    title: call.title,
    locations: locationsOf(call, undefined, options),
    content: acpDiffs(call, (path) => resolve(options.workspace, path)),
    rawInput: redact(call.args, options),
  };
}

/** The call was let through and is at work. */
export function toAcpProgress(call: AcpCall): AcpToolCallUpdate {
  return acpToolCallUpdate(call, 'executing');
}

/** The end of a call, whichever it was: a refusal is a failure with words. */
export function toAcpResult(call: AcpCall, response: ToolResponse, options: AcpOptions): AcpToolCallUpdate {
  const { ok, data, errors } = response;
  const diffs = ok ? acpDiffs({ ...call, data }, (path) => resolve(options.workspace, path)) : [];
  const words: AcpContent = { type: 'content', content: { type: 'text', text: wordsOf(response, options) } };
  return {
    ...acpToolCallUpdate(call, ok ? 'completed' : 'failed'),
    locations: locationsOf(call, data, options),
    content: diffs.length > 0 ? diffs : [words],
    rawOutput: mask(ok ? data : errors, options),
  };
}

/** Known secrets are masked; not in diffs, which would then show text that was never written. */
function wordsOf({ ok, data, errors }: ToolResponse, options: AcpOptions): string {
  return boundText(ok ? JSON.stringify(mask(data, options)) : refusalText(errors));
}

/** Kinds the protocol has and we do not, `switch_mode` among them, are `other`: never taken for harmless. */
export function fromAcpKind(kind: string | null | undefined): ToolKind {
  return parseToolKind(kind ?? 'other');
}

export type AcpPhase = 'requested' | 'executing' | 'completed' | 'failed';

const PHASES: Readonly<Record<AcpStatus, AcpPhase>> = {
  pending: 'requested',
  in_progress: 'executing',
  completed: 'completed',
  failed: 'failed',
};

/** A call without a status waits, as the protocol has it. */
export function fromAcpStatus(status: AcpStatus | null | undefined): AcpPhase {
  return PHASES[status ?? 'pending'];
}

export const toAcpStatus: (phase: AcpPhase) => AcpStatus = acpStatus;

export interface WorkspacePlace {
  /** Relative to the workspace root. */
  readonly path: string;
  readonly line?: number;
}

/** Places of another agent's call inside the workspace; those outside are left out. */
export function fromAcpLocations(
  locations: readonly { readonly path: string; readonly line?: number | null }[],
  { workspace }: AcpOptions,
): WorkspacePlace[] {
  return locations.flatMap(({ path, line }) => {
    const inside = relative(workspace, path);
    if (!isAbsolute(path) || inside === '..' || inside.startsWith('../') || isAbsolute(inside)) return [];
    return [{ path: inside === '' ? '.' : inside, ...(isLine(line) ? { line } : {}) }];
  });
}

const PATH_NAMES = ['path', 'src', 'dst', 'file', 'to_file'];

function locationsOf({ args, kind, paths }: AcpCall, data: unknown, { workspace }: AcpOptions): AcpLocation[] {
  const given = fields(args);
  const named = paths ?? PATH_NAMES.flatMap((name) => (typeof given[name] === 'string' ? [given[name]] : []));
  const { files_touched: touched } = fields(data);
  const all = new Set([
    ...named,
    ...(Array.isArray(touched) ? touched.filter((path) => typeof path === 'string') : []),
  ]);
  // Where reading starts, or the place that was asked about; a patch says it in its answer.
  const wanted = given['line'] ?? given['start_line'] ?? (kind === 'read' ? given['offset'] : undefined);
  const line = wanted ?? fields(firstOf(fields(data)['hunks']))['line'];
  return [...all].map((path) => ({
    path: resolve(workspace, path),
    ...(all.size === 1 && isLine(line) ? { line } : {}),
  }));
}

function isLine(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1;
}

function firstOf(value: unknown): unknown {
  return Array.isArray(value) ? value[0] : undefined;
}

function fields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** Of what a tool answered only known secrets are masked: no guess may change output or contents. */
function mask(value: unknown, { secrets = [] }: AcpOptions): unknown {
  return isJsonValue(value) ? createRedactor({ secrets }).known.json(value) : undefined;
}

function redact(value: unknown, { secrets = [] }: AcpOptions): unknown {
  return isJsonValue(value) ? createRedactor({ secrets }).redactJson(value) : undefined;
}
