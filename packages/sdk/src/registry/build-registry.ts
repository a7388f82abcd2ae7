/** A checked document → the compiled, frozen Registry. Nothing here can fail on what the schema let through. */
import type { ErrorEntry, JsonObject, JsonValue } from '@tool-runtime/protocol';
import { type SideEffectLevel, sideEffectRank } from '../contracts/annotations.ts';
import type { CapabilityPolicy, CompiledPattern, Registry, Validator } from '../contracts/registry.ts';
import type { RuleFacts } from '../contracts/rule.ts';
import { compileAllowlistPattern, compilePattern } from '../pattern/compile-pattern.ts';
import { canonicalJson, digest } from '../platform/digest.ts';
import { coordinatorSettings, fingerprintedSettings, listedQuestions } from './coordinator-settings.ts';
import { childrenSection, type RegistryDocument, retentionSection } from './document.ts';
import { readDomain } from './domains.ts';
import { externalToolSettings, externalToolsLevel } from './external-tool-settings.ts';
import { bareTable, deepFreeze, freezeMap } from './freeze.ts';
import { fingerprintedServers, mcpServerSettings, mcpServersLevel } from './mcp-server-settings.ts';
import { findPlace, type Place, type Places } from './problems.ts';

interface Origin {
  readonly file: string;
  readonly places: Places;
  readonly warnings: readonly ErrorEntry[];
  readonly rules: ReadonlyMap<string, RuleFacts>;
}

/**
 * The ceiling nobody wrote is the lowest one under which the rest of the file makes sense: `network` when hosts or
 * pushes are allowed, `process_exec` when anything may be started, else `workspace_write`.
 */
function neededLevel(document: RegistryDocument): SideEffectLevel {
  const own = neededByOwnTools(document);
  const brought = [mcpServersLevel(document.mcp_servers), externalToolsLevel(document.external_tools)];
  return brought.reduce<SideEffectLevel>(
    (highest, level) => (level !== undefined && sideEffectRank(level) > sideEffectRank(highest) ? level : highest),
    own,
  );
}

function neededByOwnTools(document: RegistryDocument): SideEffectLevel {
  if (document.network.allowed_domains.length > 0 || document.git.allow_push) return 'network';
  const startsPrograms =
    document.shell_allow.length > 0 ||
    Object.keys(document.commands).length > 0 ||
    Object.keys(document.providers).length > 0;
  return startsPrograms ? 'process_exec' : 'workspace_write';
}

function buildCeiling(document: RegistryDocument): CapabilityPolicy {
  const { allowed_tools, capabilities, recursion_limit, arg_constraints } = document;
  return {
    ...(allowed_tools === undefined ? {} : { tools: allowed_tools }),
    ...(capabilities === undefined ? {} : { capabilities }),
    side_effect_level: document.side_effect_level ?? neededLevel(document),
    ...(recursion_limit === undefined ? {} : { recursion_limit }),
    ...(arg_constraints === undefined ? {} : { tool_arg_constraints: arg_constraints }),
  };
}

/** Names everything a reader of the document would have assumed, so that equal meaning gives an equal fingerprint. */
function buildValidators(document: RegistryDocument, rules: Origin['rules']): readonly Validator[] {
  return document.validators.map(({ rule, enforcement }) => ({
    rule,
    enforcement: enforcement ?? rules.get(rule)?.defaultEnforcement ?? 'blocking',
  }));
}

function shellPatterns(document: RegistryDocument): readonly CompiledPattern[] {
  return document.shell_allow.map((entry) =>
    compileAllowlistPattern(typeof entry === 'string' ? entry : entry.pattern),
  );
}

function domainEntries(list: readonly string[] = []): readonly string[] {
  return list.map((written) => {
    const reading = readDomain(written);
    return 'entry' in reading ? reading.entry : written;
  });
}

interface NamedLists extends Pick<Registry, 'validators' | 'shellAllow' | 'allowedDomains' | 'externalTools'> {
  readonly required: readonly string[];
}

/** Entries of lists can be asked for by index or by what they name (`validators.sec.paths.sandbox`). */
function namedPlaces(places: Places, registry: NamedLists): Places {
  const named = new Map<string, Place>(places);
  const add = (section: string, names: readonly string[]): void => {
    for (const [index, name] of names.entries()) {
      const place = places.get(`${section}.${index}`);
      if (place !== undefined && !named.has(`${section}.${name}`)) named.set(`${section}.${name}`, place);
    }
  };
  add('validators', [...registry.validators.keys()]);
  add('network.allowed_domains', registry.allowedDomains);
  add(
    'external_tools',
    registry.externalTools.map(({ name }) => name),
  );
  add('coordinator.required', registry.required);
  add(
    'shell_allow',
    registry.shellAllow.map(({ source }) => source),
  );
  return named;
}

function createSpot(file: string, places: Places): Registry['spot'] {
  return (path) => {
    const place = findPlace(places, path);
    return place === undefined ? undefined : { file, line: place.line, column: place.column };
  };
}

export function buildRegistry(document: RegistryDocument, origin: Origin): Registry {
  const list = buildValidators(document, origin.rules);
  const validators = freezeMap(new Map(list.map((validator) => [validator.rule, validator])));
  const shellAllow = shellPatterns(document);
  const allowedDomains = domainEntries(document.network.allowed_domains);
  const externalTools = externalToolSettings(document.external_tools);
  const required = listedQuestions(document);
  const places = namedPlaces(origin.places, { validators, shellAllow, allowedDomains, externalTools, required });
  const coordinator = coordinatorSettings(document.coordinator);
  const registry: Registry = {
    version: document.version,
    fingerprint: fingerprintOf(document, { validators: list, ...fingerprintedSettings(coordinator) }),
    warnings: origin.warnings,
    spot: createSpot(origin.file, places),
    allowedDomains,
    insecureCredentials: domainEntries(document.network.insecure_credentials),
    shellAllow,
    git: document.git,
    ast: document.ast,
    validators,
    commands: bareTable(Object.entries(document.commands)),
    protectedBranches: document.protected_branches,
    testGlobs: document.test_globs,
    importRules: document.import_rules as readonly JsonObject[],
    ...(document.branch_pattern === undefined ? {} : { branchPattern: compilePattern(document.branch_pattern) }),
    secrets: document.secrets,
    tools: freezeMap(new Map(Object.entries(document.tools))),
    ceiling: buildCeiling(document),
    ...(document.approvals === undefined ? {} : { approvals: document.approvals }),
    isolation: document.isolation,
    durability: document.durability,
    retention: document.retention,
    externalTools,
    mcpServers: freezeMap(mcpServerSettings(document.mcp_servers)),
    toolProfiles: bareTable(Object.entries(document.tool_profiles)),
    providers: bareTable(Object.entries(document.providers as Record<string, JsonValue>)),
    limits: document.limits,
    budgets: document.budgets,
    coordinator,
    children: document.children,
  };
  return deepFreeze(registry);
}

/** `meant` stands for the sections that can be written in more than one way. */
function fingerprintOf(
  // Profiles choose what is listed; what may run is the same with and without them.
  {
    coordinator: _,
    mcp_servers: mounted,
    tool_profiles: __,
    children,
    durability,
    retention,
    ...document
  }: RegistryDocument,
  meant: Partial<Pick<Registry, 'coordinator'>> & { readonly validators: readonly Validator[] },
): string {
  const written = {
    ...document,
    ...fingerprintedServers(mounted),
    ...fingerprintedChildren(children),
    ...raised(durability),
    ...ownRetention(retention),
    ...meant,
  };
  return digest(canonicalJson(written as unknown as JsonValue));
}

function ownRetention(retention: RegistryDocument['retention']): Partial<Pick<RegistryDocument, 'retention'>> {
  const isDefault = canonicalJson({ ...retention }) === canonicalJson({ ...retentionSection.parse({}) });
  return isDefault ? {} : { retention };
}

function raised(durability: Registry['durability']): Partial<Pick<Registry, 'durability'>> {
  return durability === 'normal' ? {} : { durability };
}

/** Nothing where the section says what holds without it: registries written before it existed keep their fingerprint. */
function fingerprintedChildren(children: RegistryDocument['children']): Partial<Pick<RegistryDocument, 'children'>> {
  const isDefault = canonicalJson({ ...children }) === canonicalJson({ ...childrenSection.parse({}) });
  return isDefault ? {} : { children };
}
