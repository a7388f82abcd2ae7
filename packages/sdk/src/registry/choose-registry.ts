/**
 * Which registry is in force. The operator's own file is taken at its word. A registry found in the workspace came with
 * the repository: until the operator trusts exactly this content, it can only narrow the safe defaults.
 */
import type { ErrorEntry } from '@tool-runtime/protocol';
import type { Registry, RegistryText } from '../contracts/registry.ts';
import { sha256Hex } from '../platform/digest.ts';
import { defaultRegistry } from './build-registry.ts';
import type { KnownNames } from './check-names.ts';
import { loadRegistry } from './load-registry.ts';
import { narrowRegistry } from './narrow-registry.ts';

export interface RegistrySources {
  /** What the operator named explicitly. */
  readonly operator: RegistryText | undefined;
  /** What lies in the workspace root. */
  readonly workspace: RegistryText | undefined;
  /** Whether the operator trusts the workspace registry in the content of this SHA-256. */
  isTrusted(sha256: string): boolean;
}

export function chooseRegistry(sources: RegistrySources, known: KnownNames): Registry {
  if (sources.operator !== undefined) return load(sources.operator, known);
  if (sources.workspace === undefined) return defaultRegistry();
  const found = load(sources.workspace, known);
  if (sources.isTrusted(sha256Hex(sources.workspace.text))) return found;
  const narrowed = narrowRegistry(defaultRegistry(), found, { ...known, overreach: 'warn' });
  const ignored = narrowed.warnings.slice(found.warnings.length);
  // They say what the file allows when it is trusted.
  const untested = { ...narrowed, examples: Object.freeze([]) };
  if (ignored.length === 0) return Object.freeze(untested);
  const warnings = [...found.warnings, notTrusted(ignored, sources.workspace.file)];
  return Object.freeze({ ...untested, warnings: Object.freeze(warnings) });
}

function load(source: RegistryText, known: KnownNames): Registry {
  return loadRegistry(source.text, { ...known, file: source.file });
}

/** One warning for all of them; `tool-runtime doctor` shows each. */
function notTrusted(ignored: readonly ErrorEntry[], file: string): ErrorEntry {
  const settings = ignored.length === 1 ? '1 setting is' : `${ignored.length} settings are`;
  return {
    code: 'E_POLICY',
    message: `${file} is not trusted: ${settings} ignored`,
    details: {
      reason: 'registry_not_trusted',
      ignored: ignored.map(({ message, details }) => `${placeOf(details)}${message}`),
      next: 'read it, then run: tool-runtime trust',
    },
  };
}

function placeOf(details: ErrorEntry['details']): string {
  const place = details?.['registry'];
  return typeof place === 'string' ? `${place} ` : '';
}
