/** The compiled registry as a flat list of values, each with the line it comes from. */
import type { JsonValue, RegistryView } from '@tool-runtime/protocol';
import type { Registry } from '@tool-runtime/sdk';

/** Names of the format where they are not the compiled ones written with underscores. */
const WRITTEN: Readonly<Record<string, string>> = {
  allowedDomains: 'network.allowed_domains',
  insecureCredentials: 'network.insecure_credentials',
  'ceiling.tools': 'allowed_tools',
  'ceiling.capabilities': 'capabilities',
  'ceiling.workspace_roots': 'workspace_roots',
  'ceiling.side_effect_level': 'side_effect_level',
  'ceiling.recursion_limit': 'recursion_limit',
  'ceiling.tool_arg_constraints': 'arg_constraints',
};
/** About the registry, not values of it. */
const LEFT_OUT: ReadonlySet<string> = new Set(['fingerprint', 'warnings', 'spot']);

export function viewRegistry(registry: Registry, workspace: string): RegistryView {
  const values = Object.entries(registry)
    .filter(([name, value]) => !LEFT_OUT.has(name) && value !== undefined && typeof value !== 'function')
    .flatMap(([name, value]) => leavesOf(WRITTEN[name] ?? snake(name), value, name))
    .map(({ path, value }) => ({ path, value, ...originOf(registry, path) }));
  return {
    workspace,
    fingerprint: registry.fingerprint,
    warnings: registry.warnings.map(({ message }) => message),
    values,
  };
}

interface Leaf {
  readonly path: string;
  readonly value: JsonValue;
}

function leavesOf(path: string, value: unknown, compiled: string): readonly Leaf[] {
  if (value instanceof Map) return leavesOf(path, Object.fromEntries(value), compiled);
  if (Array.isArray(value)) {
    const plain = value.map(plainOf);
    return plain.every((one) => typeof one !== 'object')
      ? [{ path, value: plain }]
      : plain.flatMap((one, at) => leavesOf(`${path}.${at}`, one, `${compiled}.${at}`));
  }
  const plain = plainOf(value);
  if (typeof plain !== 'object' || plain === null) return [{ path, value: plain }];
  const entries = Object.entries(plain).filter(([, inner]) => inner !== undefined);
  if (entries.length === 0) return [{ path, value: {} }];
  return entries.flatMap(([key, inner]) =>
    leavesOf(WRITTEN[`${compiled}.${key}`] ?? `${path}.${key}`, inner, `${compiled}.${key}`),
  );
}

/** A compiled pattern is what the operator wrote. */
function plainOf(value: unknown): JsonValue {
  if (typeof value === 'object' && value !== null && 'source' in value && 'test' in value) return String(value.source);
  return (value ?? null) as JsonValue;
}

function originOf(registry: Registry, path: string): { readonly origin?: string } {
  const spot = registry.spot(path);
  return spot === undefined ? {} : { origin: `${spot.file}:${spot.line}` };
}

function snake(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
