/** What a call of a batch would touch, as far as its arguments tell. Judges nothing: the pipeline does that. */

import { rewriteAliases } from '../call/normalize-args.ts';
import type { SessionParts } from '../call/state/session-parts.ts';
import { isReadOnlyKind } from '../contracts/annotations.ts';
import { declaredPaths } from '../policy/declared-paths.ts';
import type { Footprint } from './run-batch.ts';

const ANYTHING: Footprint = { readOnly: false, keys: undefined };
const NOTHING: Footprint = { readOnly: true, keys: new Set() };

export function footprintOf(tool: string, args: unknown, parts: SessionParts): Footprint {
  const compiled = parts.tools.get(tool);
  // An unknown tool is refused by the pipeline and touches nothing.
  if (compiled === undefined) return NOTHING;
  const readOnly = compiled.annotated && isReadOnlyKind(compiled.staticProfile.kind);
  const keys = lockKeysOf(args, compiled.annotations.arg_schema, parts);
  return keys === undefined ? { ...ANYTHING, readOnly } : { readOnly, keys };
}

function lockKeysOf(
  args: unknown,
  schema: { readonly path_params: readonly string[]; readonly arg_aliases: Readonly<Record<string, string>> },
  parts: SessionParts,
): ReadonlySet<string> | undefined {
  if (typeof args !== 'object' || args === null) return undefined;
  try {
    const rewritten = rewriteAliases(args as Parameters<typeof rewriteAliases>[0], schema.arg_aliases);
    const paths = declaredPaths(rewritten, schema.path_params);
    if (paths.length === 0) return undefined;
    return new Set(paths.flatMap((path) => parts.workspace.lockKeys(path.value)));
  } catch {
    // Bad arguments are refused by the pipeline; for ordering they count as touching anything.
    return undefined;
  }
}
