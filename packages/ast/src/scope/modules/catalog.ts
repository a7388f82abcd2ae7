/** Families of languages that import from each other, one line each. */
import type { ModuleFamily } from '../module-system.ts';
import { esModules } from './ecmascript/es-modules.ts';
import { goModules } from './go/go-modules.ts';
import { pythonModules } from './python/python-modules.ts';
import { rustModules } from './rust/rust-modules.ts';

export const MODULE_FAMILIES: readonly ModuleFamily[] = [esModules, pythonModules, rustModules, goModules];

export function familyOf(language: string | undefined): ModuleFamily | undefined {
  return MODULE_FAMILIES.find(({ languages }) => language !== undefined && languages.includes(language));
}
