/**
 * The registry that holds when a host and a session both have one: never wider than either.
 *
 * What a session leaves out is what its own file grants, so a section it omits (hosts, shell, external tools) is empty
 * here too; ceilings and budgets it leaves unset are the host's. Asking for more than the host allows is refused as a
 * whole, or, for registries that merely came with a repository, trimmed and named in `warnings`.
 */
import { type ErrorEntry, type JsonObject, ToolError } from '@tool-runtime/protocol';
import type { Registry, RegistryText } from '../contracts/registry.ts';
import { canonicalJson, digest } from '../platform/digest.ts';
import { type CompiledSections, sections } from './document.ts';
import { deepFreeze } from './freeze.ts';
import { createNarrowedSpot, type Narrowing, type Overreach } from './narrowing.ts';
import { KEPT, SHOWN } from './problems.ts';

export interface NarrowOptions {
  /** `error` throws E_POLICY naming everything; `warn` trims and names it in the warnings. */
  readonly overreach: 'error' | 'warn';
  /** Tool name → its own time limit. Without it a session cannot set limits the host's registry does not mention. */
  readonly toolTimeouts?: ReadonlyMap<string, number>;
}

function sessionPlace(session: Registry, path: string): string | undefined {
  const spot = session.spot(path);
  return spot === undefined ? undefined : `${spot.file}:${spot.line}`;
}

function refuse(session: Registry, overreach: readonly Overreach[]): ToolError {
  const entries = overreach.slice(0, KEPT).map(({ path, message }): JsonObject => {
    const registry = sessionPlace(session, path);
    return { path, message, ...(registry === undefined ? {} : { registry }) };
  });
  const lines = entries
    .slice(0, SHOWN)
    .map(({ registry, message }) => (registry === undefined ? message : `${registry} ${message}`));
  const more = overreach.length > SHOWN ? `; and ${overreach.length - SHOWN} more` : '';
  const first = entries.find(({ registry }) => registry !== undefined)?.['registry'];
  return new ToolError('E_POLICY', `Registry asks for more than the host allows: ${lines.join('; ')}${more}`, {
    details: {
      reason: 'registry_overreach',
      ...(first === undefined ? {} : { registry: first }),
      overreach_count: overreach.length,
      overreach: entries,
      next: "Take these out of the session's registry, or have the operator allow them in the host's",
    },
  });
}

function warning(session: Registry, { path, message }: Overreach, reason: string): ErrorEntry {
  const registry = sessionPlace(session, path);
  return { code: 'E_POLICY', message, path, details: { reason, ...(registry === undefined ? {} : { registry }) } };
}

/** Throws E_POLICY on overreach unless the options ask to trim. */
export function narrowRegistry(host: Registry, session: Registry, options: NarrowOptions): Registry {
  const { toolTimeouts = new Map() } = options;
  const narrowing: Narrowing = { host, session, overreach: [], notes: [], spots: new Map(), toolTimeouts };
  const narrowed: CompiledSections = Object.assign({}, ...sections.map((section) => section.narrow(narrowing)));
  const overreach = inOrder(session, narrowing.overreach);
  if (overreach.length > 0 && options.overreach === 'error') throw refuse(session, overreach);
  const warnings = [
    ...session.warnings,
    ...overreach.map((entry) => warning(session, entry, 'registry_overreach')),
    ...inOrder(session, narrowing.notes).map((entry) => warning(session, entry, 'host_setting_used')),
  ];
  const registry: Registry = {
    version: 1,
    fingerprint: digest(canonicalJson({ host: host.fingerprint, session: session.fingerprint })),
    spot: createNarrowedSpot(
      narrowing,
      sections.flatMap(({ lists = {} }) => Object.keys(lists)),
    ),
    warnings,
    sources: [...host.sources, ...session.sources.filter((source) => !hasSource(host, source))],
    // Those of the host held when it was started, and need not hold where less is allowed.
    examples: session.examples,
    ...narrowed,
  };
  return deepFreeze(registry);
}

function hasSource({ sources }: Registry, { text }: RegistryText): boolean {
  return sources.some((source) => source.text === text);
}

/** By line of the session's registry; keys that are not written come last. */
function inOrder(session: Registry, entries: readonly Overreach[]): readonly Overreach[] {
  const lineOf = ({ path }: Overreach): number => session.spot(path)?.line ?? Number.MAX_SAFE_INTEGER;
  return entries.toSorted((left, right) => lineOf(left) - lineOf(right));
}
