/**
 * The written form of a registry: the keys of every section. The JSON Schema for editors comes from it.
 *
 * Strict at every level. Each value is checked by itself; checks that need the known rules or tools are in check-names.ts.
 */
import type { JsonObject } from '@tool-runtime/protocol';
import { z } from 'zod';
import type { Section } from './section.ts';
import * as catalog from './sections/catalog.ts';

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

/** JSON Schema 2020-12 of what may be written. */
export function registryJsonSchema(): JsonObject {
  return z.toJSONSchema(registryDocument, { io: 'input', target: 'draft-2020-12' }) as JsonObject;
}
