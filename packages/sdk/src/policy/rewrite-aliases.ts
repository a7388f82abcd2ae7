/**
 * Moves values from alias keys to the keys the tool reads, before anything is judged.
 *
 * A value may arrive under one name only: with two, the gates could judge one and the tool use the other.
 */
import { type JsonValue, ToolError } from '@tool-runtime/protocol';

type Args = Readonly<Record<string, JsonValue>>;

/** Returns the same object when no alias is present. Throws E_VALIDATION_FAIL when a value has two names. */
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

/** `__proto__` is no name for an argument: assigning to it would change the object, not the argument. */
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
