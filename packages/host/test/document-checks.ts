/** Linter and validator for the two documents a host publishes. */
import assert from 'node:assert/strict';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import type { JsonObject, JsonValue } from '@tool-runtime/protocol';
import { Ajv2020 } from 'ajv/dist/2020.js';

/** Problems of any severity, by Redocly's recommended rules: `rule at pointer: message`. */
export async function lintDocument(document: JsonObject): Promise<string[]> {
  const config = await createConfig({
    extends: ['recommended'],
    // On a Unix socket the kernel is the credential, and standard streams have none: there is no scheme to name.
    async3Rules: { 'security-defined': 'off' },
  });
  const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: '/document.json', config });
  return problems.map(({ ruleId, message, location }) => `${ruleId} at ${location[0]?.pointer}: ${message}`);
}

export type Judge = (pointer: string, value: unknown) => readonly string[];

/** Judges values by the schema at a JSON pointer of the document; no problems means it fits. */
export function judgeBy(document: JsonObject): Judge {
  const ajv = new Ajv2020({ allErrors: true, strict: false });
  ajv.addSchema(document, 'document:');
  return (pointer, value) => {
    const validate = ajv.getSchema(`document:${pointer}`);
    assert.ok(validate !== undefined, `no schema at ${pointer}`);
    return validate(value) ? [] : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
  };
}

/** What a pointer such as `#/paths/~1v1~1call/post` leads to, through references; undefined when nothing is there. */
export function lookUp(document: JsonObject, pointer: string): JsonObject | undefined {
  const keys = pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  const found = keys.reduce<JsonValue | undefined>((place, key) => (place as JsonObject | undefined)?.[key], document);
  const reference = (found as JsonObject | undefined)?.['$ref'];
  return typeof reference === 'string' ? lookUp(document, reference) : (found as JsonObject | undefined);
}

export function pointerTo(...keys: readonly string[]): string {
  return `#/${keys.map((key) => key.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')}`;
}
