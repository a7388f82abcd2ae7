/**
 * The written form of a registry: the keys of every section. The JSON Schema for editors comes from it.
 *
 * Strict at every level. Each value is checked by itself; checks that need the known rules or tools are in check-names.ts.
 */
import type { JsonObject } from '@tool-runtime/protocol';
import { z } from 'zod';
import type { Section } from './section.ts';
import * as catalog from './sections/catalog.ts';
import { NAMES } from './texts.ts';

type Catalogued = (typeof catalog)[keyof typeof catalog];
type Merged<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;

/** The fields that all sections together compile to. */
export type CompiledSections = Merged<ReturnType<Catalogued['build']>>;

/** In the order of their names. */
export const sections: readonly Section[] = Object.values(catalog) as unknown as readonly Section[];

const keys = Object.assign({}, ...sections.map((section) => section.keys)) as Merged<Catalogued['keys']>;

export const registryDocument = z
  .strictObject({ version: z.literal(1).default(1).describe('Version of this format'), ...keys })
  .describe('Tool Runtime registry: what an operator allows');

export type RegistryDocument = z.output<typeof registryDocument>;

/** Names that editors complete. */
export interface PublishedNames {
  readonly tools: readonly string[];
  readonly rules: readonly string[];
}

/**
 * JSON Schema 2020-12 of what may be written. With names, editors complete tools and rules; names of your own are valid
 * too, since only a runtime knows them.
 */
export function registryJsonSchema(names?: PublishedNames): JsonObject {
  const kinds = names === undefined ? {} : { tool: names.tools, rule: names.rules };
  const defs = Object.entries(kinds).map(([kind, known]) => [
    kind,
    { anyOf: [{ enum: known.toSorted() }, { type: 'string' }] },
  ]);
  const schema = z.toJSONSchema(registryDocument, {
    io: 'input',
    target: 'draft-2020-12',
    override: ({ jsonSchema }) => {
      if (names !== undefined) completeNames(jsonSchema as Record<string, unknown>, names.tools);
    },
  }) as JsonObject;
  return defs.length === 0 ? schema : { ...schema, $defs: Object.fromEntries(defs) };
}

function completeNames(schema: Record<string, unknown>, tools: readonly string[]): void {
  const kind = schema[NAMES];
  if (typeof kind === 'string') {
    delete schema[NAMES];
    delete schema['type'];
    delete schema['minLength'];
    schema['$ref'] = `#/$defs/${kind}`;
  }
  // Keys are completed from `properties` alone. Only the key `tools` has names of tools for keys.
  const keys = schema['propertyNames'] as Record<string, unknown> | undefined;
  if (keys?.['$ref'] !== '#/$defs/tool' && keys?.[NAMES] !== 'tool') return;
  const value = { $ref: '#/properties/tools/additionalProperties' };
  schema['properties'] = Object.fromEntries(tools.toSorted().map((name) => [name, value]));
}
