/** Whether values of a schema look different once it is strict, so that somebody has to turn them back. */
import type { JsonSchema } from './list-tools.ts';
import { branchesOf, isOpenMap, isSchema, propertiesOf, requiredOf, resolveReference } from './schema-shape.ts';
import type { StrictDialect } from './strict-dialects.ts';

export function needsRestoring(
  schema: unknown,
  root: JsonSchema,
  dialect: StrictDialect,
  seen: ReadonlySet<unknown> = new Set(),
): boolean {
  if (!isSchema(schema) || seen.has(schema)) return false;
  const met = new Set([...seen, schema]);
  const inner = (part: unknown) => needsRestoring(part, root, dialect, met);
  if ('$ref' in schema) return inner(resolveReference(schema['$ref'], root));
  const branches = branchesOf(schema);
  if (branches !== undefined) return branches.some(inner);
  if (isOpenMap(schema)) return !dialect.hasOpenMaps || inner(schema['additionalProperties']);
  const properties = propertiesOf(schema);
  const hasNulls = dialect.isAllRequired && requiredOf(schema).size < Object.keys(properties).length;
  return hasNulls || Object.values(properties).some(inner) || inner(schema['items']);
}
