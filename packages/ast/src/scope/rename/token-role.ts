/** What a token does with the name, in the words of answers. */
import type { Specifier } from '../module-system.ts';
import type { NameToken } from '../scope-model.ts';
import type { EditRole } from './rename-plan.ts';

export function roleOf({ role, isString, shorthand }: NameToken, specifier: Specifier | undefined): EditRole {
  if (specifier !== undefined) return specifier.kind;
  if (shorthand !== undefined) return 'shorthand';
  if (role === 'opaque' || role === 'member') return role;
  if (isString) return 'string';
  return role === 'definition' ? 'definition' : 'reference';
}
