/** A checked document → the compiled, frozen Registry. Nothing here can fail on what the schema let through. */
import type { ErrorEntry, JsonValue } from '@tool-runtime/protocol';
import type { SideEffectLevel } from '../contracts/annotations.ts';
import type { Registry, RegistryText } from '../contracts/registry.ts';
import type { RuleFacts } from '../contracts/rule.ts';
import { canonicalJson, digest } from '../platform/digest.ts';
import { type CompiledSections, type RegistryDocument, sections } from './document.ts';
import { deepFreeze } from './freeze.ts';
import { findPlace, type Place, type Places } from './problems.ts';
import { type BuildContext, highestLevel } from './section.ts';
import { unwrittenDocument } from './unwritten-document.ts';

interface Origin {
  readonly source: RegistryText;
  readonly places: Places;
  readonly warnings: readonly ErrorEntry[];
  readonly rules: ReadonlyMap<string, RuleFacts>;
}

/** Files inside the workspace are always open, so no ceiling that is not written is lower. */
const LOWEST: SideEffectLevel = 'workspace_write';

/** Entries of lists can be asked for by index or by what they name (`validators.sec.paths.sandbox`). */
function namedPlaces(places: Places, document: RegistryDocument): Places {
  const named = new Map<string, Place>(places);
  const lists = sections.flatMap((section) => Object.entries(section.lists ?? {}));
  for (const [list, namesOf] of lists) {
    for (const [index, name] of namesOf(document).entries()) {
      const place = places.get(`${list}.${index}`);
      if (place !== undefined && !named.has(`${list}.${name}`)) named.set(`${list}.${name}`, place);
    }
  }
  return named;
}

function createSpot(file: string, places: Places): Registry['spot'] {
  return (path) => {
    const place = findPlace(places, path);
    return place === undefined ? undefined : { file, line: place.line, column: place.column };
  };
}

export function buildRegistry(document: RegistryDocument, origin: Origin): Registry {
  const needed = sections.flatMap((section) => section.needs?.(document) ?? []);
  const context = { rules: origin.rules, neededLevel: highestLevel([LOWEST, ...needed]) ?? LOWEST };
  const compiled: CompiledSections = Object.assign({}, ...sections.map((section) => section.build(document, context)));
  const registry: Registry = {
    version: document.version,
    fingerprint: fingerprintOf(document, context),
    warnings: origin.warnings,
    sources: [origin.source],
    spot: createSpot(origin.source.file, namedPlaces(origin.places, document)),
    examples: sections.flatMap((section) => section.examples?.(document) ?? []),
    ...compiled,
  };
  return deepFreeze(registry);
}

/** Keys of the first format are in every fingerprint. The list never grows. */
const FIRST_KEYS: ReadonlySet<string> = new Set([
  'allowed_tools',
  'approvals',
  'arg_constraints',
  'ast',
  'branch_pattern',
  'budgets',
  'capabilities',
  'commands',
  'external_tools',
  'git',
  'import_rules',
  'isolation',
  'limits',
  'network',
  'protected_branches',
  'providers',
  'recursion_limit',
  'secrets',
  'shell_allow',
  'side_effect_level',
  'test_globs',
  'tools',
  'validators',
  'version',
]);

/** A later key counts only where it changes something: registries written before it existed keep their fingerprint. */
function fingerprintOf(document: RegistryDocument, context: BuildContext): string {
  const unset = meaningOf(unwrittenDocument(), context);
  const counted = Object.entries(meaningOf(document, context)).filter(
    ([key, value]) => FIRST_KEYS.has(key) || canonicalJson(value) !== canonicalJson(unset[key] ?? null),
  );
  return digest(canonicalJson(Object.fromEntries(counted)));
}

function meaningOf(document: RegistryDocument, context: BuildContext): Readonly<Record<string, JsonValue>> {
  const meanings = sections.map((section) => section.meaning?.(document, context) ?? pick(document, section.keys));
  return Object.assign({ version: document.version }, ...meanings);
}

function pick(document: RegistryDocument, keys: object): object {
  return Object.fromEntries(Object.entries(document).filter(([key]) => Object.hasOwn(keys, key)));
}

/**
 * The registry that holds when none is written: files inside the workspace and local git verbs; no shell, no network, no push,
 * commands in the sandbox. Every value is the document's own default, so `version: 1` and no file mean the same.
 */
export function defaultRegistry(): Registry {
  return buildRegistry(unwrittenDocument(), {
    source: { text: 'version: 1\n', file: '' },
    places: new Map(),
    rules: new Map(),
    warnings: [],
  });
}
