/**
 * Which registry is in force. The operator's own file is taken at its word. A registry found in the workspace came with
 * the repository: until the operator trusts exactly this content, it can only narrow the safe defaults.
 */
import type { ErrorEntry } from '@tool-runtime/protocol';
import type { Registry } from '../contracts/registry.ts';
import { sha256Hex } from '../platform/digest.ts';
import type { KnownNames } from './check-names.ts';
import { defaultRegistry } from './default-registry.ts';
import { loadRegistry } from './load-registry.ts';
import { narrowRegistry } from './narrow-registry.ts';

export interface RegistryText {
  readonly text: string;
  /** Name in messages. */
  readonly file: string;
}

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
  return narrowed.warnings.length === found.warnings.length ? narrowed : withHint(narrowed, sources.workspace.file);
}

function load(source: RegistryText, known: KnownNames): Registry {
  return loadRegistry(source.text, { ...known, file: source.file });
}

function withHint(registry: Registry, file: string): Registry {
  const hint: ErrorEntry = {
    code: 'E_POLICY',
    message: `Registry of the workspace is not trusted, so it can only narrow the safe defaults: ${file}`,
    details: { next: 'review it, then run: tool-runtime trust' },
  };
  return Object.freeze({ ...registry, warnings: Object.freeze([...registry.warnings, hint]) });
}
