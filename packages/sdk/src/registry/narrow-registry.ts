/**
 * The registry that holds when a host and a session both have one: never wider than either.
 *
 * What a session leaves out is what its own file grants, so a section it omits (hosts, shell, external tools) is empty
 * here too; ceilings and budgets it leaves unset are the host's. Asking for more than the host allows is refused as a
 * whole, or, for registries that merely came with a repository, trimmed and named in `warnings`.
 */
import { type ErrorEntry, type JsonObject, ToolError } from '@tool-runtime/protocol';
import { sideEffectRank } from '../contracts/annotations.ts';
import type { CapabilityPolicy, Registry } from '../contracts/registry.ts';
import { excerpt } from '../pattern/excerpt.ts';
import { canonicalJson, digest } from '../platform/digest.ts';
import { mergeApprovalPolicies } from '../policy/approval-policy.ts';
import { narrowPolicies } from '../policy/intersect-policy.ts';
import { deepFreeze } from './freeze.ts';
import { narrowCoordinator } from './narrow-coordinator.ts';
import {
  narrowBranchPattern,
  narrowDomains,
  narrowExternalTools,
  narrowInsecureCredentials,
  narrowProviders,
  narrowShell,
} from './narrow-grants.ts';
import { narrowMcpServers } from './narrow-mcp-servers.ts';
import {
  narrowAst,
  narrowBudgets,
  narrowChildren,
  narrowCommands,
  narrowDurability,
  narrowGit,
  narrowIsolation,
  narrowLimits,
  narrowRetention,
  narrowSecrets,
  narrowTestGlobs,
  narrowTools,
  narrowValidators,
} from './narrow-settings.ts';
import { createNarrowedSpot, isWritten, type Narrowing, type Overreach } from './narrowing.ts';
import { KEPT, SHOWN } from './problems.ts';

export interface NarrowOptions {
  /** `error` throws E_POLICY naming everything; `warn` trims and names it in the warnings. */
  readonly overreach: 'error' | 'warn';
  /** Tool name → its own time limit. Without it a session cannot set limits the host's registry does not mention. */
  readonly toolTimeouts?: ReadonlyMap<string, number>;
}

const CEILING_KEYS: Readonly<Record<string, string>> = {
  tools: 'allowed_tools',
  tool_arg_constraints: 'arg_constraints',
};

/** A level nobody wrote follows from the rest of the file, whose overreach is named already: it comes down in silence. */
function requestedCeiling({ host, session }: Narrowing): CapabilityPolicy {
  const [given, own] = [host.ceiling.side_effect_level, session.ceiling.side_effect_level];
  if (given === undefined || own === undefined || isWritten(session, 'side_effect_level')) return session.ceiling;
  return sideEffectRank(own) > sideEffectRank(given)
    ? { ...session.ceiling, side_effect_level: given }
    : session.ceiling;
}

function narrowCeiling(narrowing: Narrowing): CapabilityPolicy {
  const { policy, overreach } = narrowPolicies(narrowing.host.ceiling, requestedCeiling(narrowing));
  for (const asked of overreach) {
    const [field = ''] = asked.split(':');
    const path = CEILING_KEYS[field] ?? field;
    narrowing.overreach.push({ path, message: `Ceiling is above the host's: ${excerpt(asked)}` });
  }
  return policy;
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

/** Throws E_POLICY on overreach unless told to trim. */
export function narrowRegistry(host: Registry, session: Registry, options: NarrowOptions): Registry {
  const narrowing: Narrowing = { host, session, overreach: [], notes: [], spots: new Map() };
  const branchPattern = narrowBranchPattern(narrowing);
  const approvals = mergeApprovalPolicies(host.approvals, session.approvals);
  const narrowed: Omit<Registry, 'warnings'> = {
    version: 1,
    fingerprint: digest(canonicalJson({ host: host.fingerprint, session: session.fingerprint })),
    spot: createNarrowedSpot(narrowing),
    allowedDomains: narrowDomains(narrowing),
    insecureCredentials: narrowInsecureCredentials(narrowing),
    shellAllow: narrowShell(narrowing),
    git: narrowGit(narrowing),
    ast: narrowAst(narrowing),
    validators: narrowValidators(narrowing),
    commands: narrowCommands(narrowing),
    protectedBranches: [...new Set([...host.protectedBranches, ...session.protectedBranches])],
    testGlobs: narrowTestGlobs(narrowing),
    importRules: [...host.importRules, ...session.importRules],
    ...(branchPattern === undefined ? {} : { branchPattern }),
    secrets: narrowSecrets(narrowing),
    tools: narrowTools(narrowing, options.toolTimeouts ?? new Map()),
    ceiling: narrowCeiling(narrowing),
    ...(approvals === undefined ? {} : { approvals }),
    isolation: narrowIsolation(narrowing),
    durability: narrowDurability(narrowing),
    retention: narrowRetention(narrowing),
    externalTools: narrowExternalTools(narrowing),
    mcpServers: narrowMcpServers(narrowing),
    toolProfiles: host.toolProfiles,
    providers: narrowProviders(narrowing),
    limits: narrowLimits(narrowing),
    budgets: narrowBudgets(narrowing),
    coordinator: narrowCoordinator(narrowing),
    children: narrowChildren(narrowing),
  };
  if (narrowing.overreach.length > 0 && options.overreach === 'error') throw refuse(session, narrowing.overreach);
  const warnings = [
    ...session.warnings,
    ...narrowing.overreach.map((entry) => warning(session, entry, 'registry_overreach')),
    ...narrowing.notes.map((entry) => warning(session, entry, 'host_setting_used')),
  ];
  return deepFreeze({ ...narrowed, warnings });
}
