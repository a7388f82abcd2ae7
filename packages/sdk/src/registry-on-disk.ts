/** The registry of a workspace for commands that only look: no runtime starts, nothing is created or written. */
import { join } from 'node:path';
import type { Registry, RegistryText } from './contracts/registry.ts';
import { readOperatorFile, readOperatorFileIfAny } from './platform/descriptors/file-content.ts';
import { chooseRegistry } from './registry/choose-registry.ts';
import { MAX_REGISTRY_BYTES } from './registry/problems.ts';
import { openTrustList } from './registry/trust-list.ts';
import { REGISTRY_FILE } from './registry-in-force.ts';
import * as builtInRules from './rules/catalog.ts';
import { ENGINE_RULES } from './rules/engine-rules.ts';

export interface RegistrySearch {
  readonly workspace: string;
  readonly state: string;
  /** The operator's file; without one the registry of the workspace counts, if it is trusted. */
  readonly registry?: string;
}

export interface FoundRegistry {
  readonly registry: Registry;
  /** Undefined: no registry exists, and the safe defaults hold. */
  readonly source: RegistryText | undefined;
}

/** The trust list keeps the text of a registry. */
const LIMIT = { maxBytes: 16 * MAX_REGISTRY_BYTES };

export function registryOnDisk({ workspace, state, registry }: RegistrySearch): FoundRegistry {
  const operator = registry === undefined ? undefined : { text: readOperatorFile(registry, LIMIT), file: registry };
  const trusted = openTrustList({
    readText: (name) => readOperatorFileIfAny(join(state, name), LIMIT),
    writeText() {},
  });
  const found = operator === undefined ? readOperatorFileIfAny(join(workspace, REGISTRY_FILE), LIMIT) : undefined;
  const own = found === undefined ? undefined : { text: found, file: REGISTRY_FILE };
  const chosen = chooseRegistry(
    { operator, workspace: own, isTrusted: (sha256) => trusted.has(REGISTRY_FILE, sha256) },
    {
      engines: new Set(['ast']),
      rules: new Map([...ENGINE_RULES, ...Object.values(builtInRules)].map((rule) => [rule.id, rule])),
      tools: undefined,
    },
  );
  return { registry: chosen, source: operator ?? own };
}
