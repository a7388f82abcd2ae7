/**
 * `tool-runtime.lock` as text: which programs may run, by digest.
 *
 * Strict in every field, because a misspelt key would be a pin that is never checked. Written with sorted keys, so that
 * equal content is equal text.
 */
import { isDeepStrictEqual } from 'node:util';
import { type JsonObject, type JsonValue, ToolError, toToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import { isExternalToolName, type LockedTool, type LockFile } from '../../contracts/external.ts';
import { parseTimestamp } from '../protocol/digests.ts';
import { EXTERNAL_LIMITS } from '../protocol/protocol-constants.ts';
import { parseResult } from '../protocol/read-result.ts';

const text = z.string().min(1).max(2048);
const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/);
const moment = z.string().refine((written) => isTimestamp(written));

const platform = z.strictObject({
  digest,
  files: z.record(text, digest).exactOptional(),
  url: text.exactOptional(),
});

const signer = z.strictObject({
  issuer: text.exactOptional(),
  subject: text.exactOptional(),
  source_repository_uri: text.exactOptional(),
  source_repository_ref: text.exactOptional(),
});

const tool = z.strictObject({
  source: text.exactOptional(),
  version: z.string().max(256),
  commit: text.exactOptional(),
  signer: signer.exactOptional(),
  resolved_from: z.strictObject({ registry: text.exactOptional(), descriptor: text.exactOptional() }).exactOptional(),
  locked_at: moment,
  platforms: z
    .record(z.string().regex(/^[a-z0-9]+\/[a-z0-9]+$/), platform)
    .refine((platforms) => Object.keys(platforms).length <= EXTERNAL_LIMITS.lockPlatforms, 'too many platforms'),
});

const lockFile = z.strictObject({
  schema_version: z.literal(1),
  tools: z
    .record(z.string().refine(isExternalToolName, 'not a name of a tool'), tool)
    .refine((tools) => Object.keys(tools).length <= EXTERNAL_LIMITS.lockTools, 'too many tools'),
});

function isTimestamp(written: string): boolean {
  try {
    parseTimestamp(written);
    return true;
  } catch {
    // The error says only that the text is invalid.
    return false;
  }
}

/** Throws E_VALIDATION_FAIL naming the first thing that is wrong. */
export function parseLockFile(content: string): LockFile {
  const parsed = lockFile.safeParse(readJson(content));
  if (parsed.success) return parsed.data as LockFile;
  const [issue] = parsed.error.issues;
  const keys = issue?.code === 'unrecognized_keys' ? issue.keys : [];
  throw invalid([...(issue?.path ?? []), ...keys].map(String).join('.'), issue?.message ?? 'invalid');
}

export function serializeLockFile(lock: LockFile): string {
  return `${JSON.stringify(sorted(lock as unknown as JsonObject), null, 2)}\n`;
}

function readJson(content: string): JsonObject {
  try {
    return parseResult(Buffer.from(content), EXTERNAL_LIMITS.lockBytes);
  } catch (thrown) {
    throw invalid('', toToolError(thrown).message);
  }
}

function sorted(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value as JsonObject).filter(([, inner]) => inner !== undefined);
  return Object.fromEntries(
    entries.toSorted(([left], [right]) => (left < right ? -1 : 1)).map(([key, inner]) => [key, sorted(inner)]),
  );
}

function invalid(where: string, why: string): ToolError {
  const place = where === '' ? '' : `${where.slice(0, 200)}: `;
  return new ToolError('E_VALIDATION_FAIL', `Lock file is not valid: ${place}${why.slice(0, 200)}`, {
    ...(where === '' ? {} : { path: where.slice(0, 200) }),
    details: { reason: 'invalid_lock', next: 'Lock the tools again: tool-runtime lock' },
  });
}

const SYSTEMS: Readonly<Record<string, string>> = { win32: 'windows', sunos: 'solaris' };
const PROCESSORS: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

interface Machine {
  /** `process.platform` and `process.arch`. */
  readonly platform: string;
  readonly arch: string;
}

/** How the protocol names a machine: Go's names for system and processor, such as `linux/amd64`. */
export function platformKey({ platform, arch }: Machine): string {
  return `${SYSTEMS[platform] ?? platform}/${PROCESSORS[arch] ?? arch}`;
}

export interface LockChange {
  readonly tool: string;
  /** `linux/amd64`. */
  readonly platform: string;
  /** Of the program as it is now; blank when it was not found. */
  readonly digest: string;
  readonly change: 'new' | 'unchanged' | 'changed' | 'not_found';
  /** The digest that was locked, when there was one. */
  readonly before?: string;
  /** What differs: `digest`, `files`, `version`, `source` … */
  readonly fields: readonly string[];
}

export interface LockStep {
  readonly tool: string;
  readonly platform: string;
  readonly before: LockFile | undefined;
  readonly after: LockFile;
}

/** What locking a tool anew would change, on this platform. The time of locking does not count. */
export function lockChange({ tool, platform, before, after }: LockStep): LockChange {
  const locked = flat(ownTool(before, tool), platform);
  const found = flat(ownTool(after, tool), platform);
  const place = { tool, platform, digest: String(found?.['digest'] ?? '') };
  if (locked?.['digest'] === undefined) return { ...place, change: 'new', fields: [] };
  const names = new Set([...Object.keys(locked), ...Object.keys(found ?? {})]);
  const fields = [...names].filter((name) => !isDeepStrictEqual(locked[name], found?.[name])).sort();
  const change = fields.length === 0 ? 'unchanged' : 'changed';
  return { ...place, change, before: String(locked['digest']), fields };
}

/** A tool may have the name of a property that every object has. */
export function ownTool(lock: LockFile | undefined, name: string): LockedTool | undefined {
  return lock !== undefined && Object.hasOwn(lock.tools, name) ? lock.tools[name] : undefined;
}

function flat(tool: LockedTool | undefined, platform: string): Record<string, unknown> | undefined {
  if (tool === undefined) return undefined;
  const { locked_at: _, platforms, ...described } = tool;
  return { ...described, ...(Object.hasOwn(platforms, platform) ? platforms[platform] : {}) };
}
