/**
 * The registry that is in force for a runtime or a session, wherever it comes from.
 *
 * Reading YAML takes dozens of modules: they are loaded when there is something to read.
 */
import type { ToolError } from '@tool-runtime/protocol';
import { policyDenial } from './contracts/failures.ts';
import type { Registry, RegistryText } from './contracts/registry.ts';
import type { RuleDefinition, RuleEngine, RuleFacts } from './contracts/rule.ts';
import type { AnyTool } from './contracts/tool.ts';
import { readOperatorFile } from './platform/descriptors/file-content.ts';
import { sha256Hex } from './platform/digest.ts';
import type { FileWorkspace } from './platform/files/workspace.ts';
import type { StateFolder } from './platform/state/state-folder.ts';
import { defaultRegistry } from './registry/build-registry.ts';
import type { KnownNames } from './registry/check-names.ts';
import type { RegistrySources } from './registry/choose-registry.ts';
import { MAX_REGISTRY_BYTES } from './registry/problems.ts';
import { openTrustList } from './registry/trust-list.ts';
import { ENGINE_RULES } from './rules/engine-rules.ts';
import { OTHER_TOOLS } from './tools/other-tools.ts';

/** Name of the registry that may lie in a workspace root. */
export const REGISTRY_FILE = 'tool-runtime.yaml';

export function knownNames(
  tools: readonly AnyTool[],
  rules: readonly RuleDefinition[],
  engines: ReadonlySet<RuleEngine>,
): KnownNames {
  // A rule of the embedding program comes before the line that only knows its name.
  const facts: RuleFacts[] = [...ENGINE_RULES, ...rules];
  return {
    engines,
    rules: new Map(facts.map((rule) => [rule.id, rule])),
    tools: new Set([...tools.map((tool) => tool.name), ...OTHER_TOOLS]),
    toolTimeouts: new Map(tools.map((tool) => [tool.name, tool.timeoutMs])),
  };
}

export interface RegistryPlaces {
  /** What the operator named: a file, or its text. */
  readonly operator: string | RegistryText | undefined;
  readonly workspace: FileWorkspace;
  readonly state: StateFolder;
}

export interface RegistryInForce {
  readonly registry: Registry;
  /** Undefined: none is written. */
  readonly source: RegistryText | undefined;
  /** False for a text of the workspace that can only narrow the safe defaults. */
  readonly isTrusted: boolean;
}

export async function registryInForce(places: RegistryPlaces, known: KnownNames): Promise<RegistryInForce> {
  const sources = await findSources(places);
  const source = sources.operator ?? sources.workspace;
  if (source === undefined) return { registry: defaultRegistry(), source, isTrusted: true };
  const { chooseRegistry } = await import('./registry/choose-registry.ts');
  const isTrusted = sources.operator !== undefined || sources.isTrusted(sha256Hex(source.text));
  return { registry: chooseRegistry(sources, known), source, isTrusted };
}

/** A session's registry can only narrow the runtime's. */
export async function narrowedRegistry(
  host: Registry,
  requested: RegistryText | undefined,
  known: KnownNames,
): Promise<Registry> {
  if (requested === undefined) return host;
  const { loadRegistry } = await import('./registry/load-registry.ts');
  const { narrowRegistry } = await import('./registry/narrow-registry.ts');
  const loaded = loadRegistry(requested.text, { ...known, file: requested.file });
  const narrowed = narrowRegistry(host, loaded, { ...known, overreach: 'error' });
  if (narrowed.durability !== host.durability) throw levelTooHigh(requested.file);
  return narrowed;
}

/** What the registry still allows under those of another host: trimmed, never refused for what only the other one allows. */
export async function registryUnder(
  host: Registry,
  others: readonly RegistryText[],
  known: KnownNames,
): Promise<Registry> {
  const { loadRegistry } = await import('./registry/load-registry.ts');
  const { narrowRegistry } = await import('./registry/narrow-registry.ts');
  return others.reduce((held, { text, file }) => {
    const loaded = loadRegistry(text, { ...known, file });
    const narrowed = narrowRegistry(held, loaded, { ...known, overreach: 'warn' });
    if (narrowed.durability !== held.durability) throw levelTooHigh(file);
    // They say what the other host's workspace allows.
    return Object.freeze({ ...narrowed, examples: [] });
  }, host);
}

/** Journal and files of a running runtime are synced in one way for all its sessions, so a session cannot ask for more. */
function levelTooHigh(file: string): ToolError {
  return policyDenial(`Registry asks for durability full, and the runtime was started with normal: ${file}`, {
    details: {
      gate: 'registry',
      reason: 'durability_not_offered',
      next: 'Have the operator start the runtime with --durability full, or take the key out',
    },
  });
}

async function findSources({ operator, workspace, state }: RegistryPlaces): Promise<RegistrySources> {
  const trusted = openTrustList(state);
  return {
    operator: operatorRegistry(operator),
    workspace: operator === undefined ? await workspaceRegistry(workspace) : undefined,
    isTrusted: (sha256: string) => trusted.has(REGISTRY_FILE, sha256),
  };
}

function operatorRegistry(operator: RegistryPlaces['operator']): RegistryText | undefined {
  if (typeof operator !== 'string') return operator;
  return { text: readOperatorFile(operator, { maxBytes: MAX_REGISTRY_BYTES }), file: operator };
}

async function workspaceRegistry(workspace: FileWorkspace): Promise<RegistryText | undefined> {
  if ((await workspace.stat(REGISTRY_FILE)) === null) return undefined;
  const { bytes } = await workspace.readFile(REGISTRY_FILE, { maxBytes: MAX_REGISTRY_BYTES + 1 });
  // The mark stays in the text, so that its digest is that of the file an operator reviewed.
  return { text: new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes), file: REGISTRY_FILE };
}
