/**
 * docs/schemas/*.json: the envelopes, the bodies of HTTP and the registry as JSON Schema, for editors and for clients
 * in other languages.
 */
import { bodySchemas, envelopeSchemas } from '@tool-runtime/protocol';
import { type PublishedNames, registryJsonSchema } from '../../packages/sdk/src/registry/document.ts';

export const SCHEMA_FOLDER = 'docs/schemas';

export function schemaFiles(names: PublishedNames): Map<string, string> {
  const schemas = { ...envelopeSchemas(), ...bodySchemas(), Registry: registryJsonSchema(names) };
  return new Map(
    Object.entries(schemas).map(([name, schema]) => [
      `${SCHEMA_FOLDER}/${kebabCase(name)}.json`,
      `${JSON.stringify(schema, null, 2)}\n`,
    ]),
  );
}

function kebabCase(name: string): string {
  return name.replace(/(?<=[a-z0-9])[A-Z]/g, (letter) => `-${letter}`).toLowerCase();
}
