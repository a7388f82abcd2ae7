/**
 * Files of the work tree that no git verb may write over: the operator's own registry, tokens, sockets.
 *
 * Git works by name and follows no link, so a path of git's means the entry of that name, whatever it is.
 */
import { lstatSync } from 'node:fs';
import { ToolError } from '@tool-runtime/protocol';
import type { GoverningPlace } from '../../contracts/governing.ts';
import { SANDBOX_RULE, shownPath } from '../descriptors/path-rules.ts';
import { identityOf } from '../descriptors/root.ts';
import { type TracedPath, tracePath } from '../descriptors/trace-path.ts';
import { errnoCode } from '../errno-error.ts';
import { isWithin } from './governing-files.ts';

export interface WorkTree {
  /** Real path. */
  readonly workspace: string;
  readonly governing: readonly GoverningPlace[];
}

/** Paths are relative to the work tree, one character a byte. */
export function requireChangeable(paths: readonly string[], { workspace, governing }: WorkTree): void {
  const kept = governing.filter(({ access }) => access !== 'git').map(({ path }) => tracePath(path));
  const near = kept.filter(({ path }) => isWithin(path, workspace));
  if (near.length === 0) return;
  for (const path of paths) {
    const bytes = Buffer.from(`${Buffer.from(workspace).toString('latin1')}/${path}`, 'latin1');
    if (near.some((place) => isTouched(place, bytes))) throw governed(Buffer.from(path, 'latin1').toString('utf8'));
  }
}

/** The file itself, under this name or another one, what leads to it, and what a folder of that name would replace. */
function isTouched({ path, way, object }: TracedPath, bytes: Buffer): boolean {
  const name = bytes.toString('utf8');
  if (isWithin(path, name) || isWithin(name, path)) return true;
  const identity = identityAt(bytes);
  if (identity === undefined) return false;
  return way.includes(identity) || (object !== undefined && identityOf(object) === identity);
}

function identityAt(path: Buffer): string | undefined {
  try {
    const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    return stat === undefined ? undefined : identityOf(stat);
  } catch (thrown) {
    if (errnoCode(thrown) === undefined) throw thrown;
    return undefined;
  }
}

function governed(path: string): ToolError {
  return new ToolError('E_POLICY', `Git would write over a file that governs this runtime: ${shownPath(path)}`, {
    path: shownPath(path),
    details: {
      rule: SANDBOX_RULE,
      reason: 'governing_file',
      next: 'let the operator do this, or keep the file outside the work tree',
    },
  });
}
