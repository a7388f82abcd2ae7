/** The explicit lists of the project, and what a file must look like to stand in each. */

export interface CatalogKind {
  readonly thing: string;
  readonly catalog: string;
  /** Matches the files that must be listed. Without it, those that contain a definition are. Others are parts of them. */
  readonly entry?: RegExp;
  /** Tests of all entries together, where an entry needs none of its own. */
  readonly tests?: readonly string[];
  /** Its lines load what they name when it is asked for. */
  readonly isLazy?: true;
  /** The property inside the file that repeats its name. */
  readonly id?: { readonly definer: string; readonly property: string; fileName(id: string): string };
}

export const CATALOG_KINDS: readonly CatalogKind[] = [
  {
    thing: 'tool',
    catalog: 'packages/sdk/src/tools/catalog.ts',
    id: { definer: 'defineTool', property: 'name', fileName: (id) => id.replaceAll('_', '-') },
  },
  {
    thing: 'rule',
    catalog: 'packages/sdk/src/rules/catalog.ts',
    entry: /^packages\/sdk\/src\/rules\/[^/]+\.[^/]+\.ts$/,
    id: { definer: 'defineRule', property: 'id', fileName: (id) => id },
  },
  {
    thing: 'tool',
    catalog: 'packages/ast/src/tools/catalog.ts',
    id: { definer: 'defineTool', property: 'name', fileName: (id) => id.replaceAll('_', '-') },
  },
  {
    thing: 'rule',
    catalog: 'packages/ast/src/rules/catalog.ts',
    entry: /^packages\/ast\/src\/rules\/[^/]+\.[^/]+\.ts$/,
    id: { definer: 'defineRule', property: 'id', fileName: (id) => id },
  },
  {
    thing: 'store',
    catalog: 'packages/sdk/src/journal/store/catalog.ts',
    entry: /^packages\/sdk\/src\/journal\/store\/[a-z]+-(?:memory|sqlite|jsonl|file|nats)\.ts$/,
  },
  {
    thing: 'registry section',
    catalog: 'packages/sdk/src/registry/sections/catalog.ts',
    entry: /^packages\/sdk\/src\/registry\/sections\/[^/]+\.ts$/,
    tests: ['packages/sdk/src/registry/load-registry.test.ts', 'packages/sdk/src/registry/narrow-registry.test.ts'],
  },
  {
    thing: 'command',
    catalog: 'packages/host/src/cli/catalog.ts',
    entry: /^packages\/host\/src\/cli\/commands\/[^/]+\.ts$/,
    isLazy: true,
  },
  envelopes('client'),
  envelopes('host'),
];

function envelopes(sender: 'client' | 'host'): CatalogKind {
  const folder = `packages/protocol/src/envelopes/from-${sender}`;
  return {
    thing: 'envelope',
    catalog: `${folder}/catalog.ts`,
    entry: new RegExp(`^${folder}/[^/]+(?<!/catalog)\\.ts$`),
    id: {
      definer: 'meta',
      property: 'id',
      fileName: (id) => id.replace(/(?<=[a-z])[A-Z]/g, (letter) => `-${letter}`).toLowerCase(),
    },
  };
}
