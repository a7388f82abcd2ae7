/** What an allowlist allows, in the words of a refusal. */
import { safeText } from '@tool-runtime/protocol/internal';
import type { CompiledPattern } from '../contracts/registry.ts';
import { programOf } from './pattern-reach.ts';

const MAX_LISTED = 8;

/** The first pattern for this program. */
export function nearestPattern(program: string, allow: readonly CompiledPattern[]): string | undefined {
  return allow.find(({ source }) => programOf(source) === program)?.source;
}

export function describeAllowed(program: string, allow: readonly CompiledPattern[]): string {
  if (allow.length === 0) return 'no command is allowed; the operator lists patterns in shell_allow';
  const nearest = nearestPattern(program, allow);
  if (nearest !== undefined) return `for ${program} is allowed: ${safeText(nearest, 120)}`;
  const sources = allow.slice(0, MAX_LISTED).map(({ source }) => safeText(source, 120));
  return `allowed are: ${sources.join('  ')}${allow.length > MAX_LISTED ? `  and ${allow.length - MAX_LISTED} more` : ''}`;
}
