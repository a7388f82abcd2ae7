/**
 * A tool's JSON Schema in the strict subset of a provider, or the reasons why that would lose meaning.
 *
 * Changed are only forms that `restoreArgs` turns back: what may be left out becomes nullable, an open map a list of
 * names and values. Limits a provider cannot check move into the description; the runtime checks the full schema anyway.
 * Everything else that does not fit is refused, never silently dropped.
 */
import { convertSchema } from './convert-schema.ts';
import type { JsonSchema } from './list-tools.ts';
import { isOpenMap } from './schema-shape.ts';
import { STRICT_DIALECTS, type StrictProvider } from './strict-dialects.ts';

export interface StrictRefusal {
  /** Where in the schema, as JSON Pointer; empty for the whole. */
  readonly path: string;
  readonly reason: string;
}

export type StrictConversion =
  | { readonly ok: true; readonly schema: JsonSchema }
  | { readonly ok: false; readonly reasons: readonly StrictRefusal[] };

export function strictSchema(schema: JsonSchema, provider: StrictProvider): StrictConversion {
  const dialect = STRICT_DIALECTS[provider];
  const reasons: StrictRefusal[] = [];
  if (schema['type'] !== 'object') reasons.push({ path: '', reason: 'arguments are not an object' });
  if (isOpenMap(schema) && !dialect.hasOpenMaps) reasons.push({ path: '', reason: 'argument names are free' });
  const converted = convertSchema(withoutDialect(schema), dialect, (path, reason) => reasons.push({ path, reason }));
  const { depth, properties } = measure(converted);
  if (depth > dialect.maxDepth) reasons.push({ path: '', reason: `more than ${dialect.maxDepth} levels deep` });
  if (properties > dialect.maxProperties) {
    reasons.push({ path: '', reason: `more than ${dialect.maxProperties} properties` });
  }
  return reasons.length === 0 ? { ok: true, schema: converted } : { ok: false, reasons };
}

/** `$schema` names the dialect of the text, not a rule for values; providers take it for words of a description. */
function withoutDialect({ $schema: _, ...schema }: JsonSchema): JsonSchema {
  return schema;
}

interface Extent {
  readonly depth: number;
  readonly properties: number;
}

/** Objects inside each other, and names of properties. */
function measure(node: unknown): Extent {
  if (typeof node !== 'object' || node === null) return { depth: 0, properties: 0 };
  const inner = Object.values(node).map(measure);
  const isObject = 'properties' in node && typeof node.properties === 'object' && node.properties !== null;
  return {
    depth: Math.max(0, ...inner.map((extent) => extent.depth)) + (isObject ? 1 : 0),
    properties:
      inner.reduce((sum, extent) => sum + extent.properties, 0) +
      (isObject ? Object.keys(node.properties as object).length : 0),
  };
}
