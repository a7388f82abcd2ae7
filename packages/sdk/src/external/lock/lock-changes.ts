/** What locking a tool anew would change, on this platform. */
import { isDeepStrictEqual } from 'node:util';
import type { LockedTool, LockFile } from '../../contracts/external.ts';

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

/** When it was locked counts for nothing. */
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

/** A tool may be called like something every object has. */
export function ownTool(lock: LockFile | undefined, name: string): LockedTool | undefined {
  return lock !== undefined && Object.hasOwn(lock.tools, name) ? lock.tools[name] : undefined;
}

function flat(tool: LockedTool | undefined, platform: string): Record<string, unknown> | undefined {
  if (tool === undefined) return undefined;
  const { locked_at: _, platforms, ...described } = tool;
  return { ...described, ...(Object.hasOwn(platforms, platform) ? platforms[platform] : {}) };
}
