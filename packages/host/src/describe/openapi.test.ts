import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '@tool-runtime/protocol';
import { z } from 'zod';
import { lintDocument, lookUp, pointerTo } from '../../test/document-checks.ts';
import { type AnyRoute, defineRoute } from '../http/route.ts';
import * as catalog from '../http/routes/catalog.ts';
import { openApiDocument } from './openapi.ts';

const routes: readonly AnyRoute[] = Object.values(catalog);
const document = openApiDocument({ version: '1.2.3', routes });

function operationOf({ path, method }: Pick<AnyRoute, 'path' | 'method'>, within = document): JsonObject {
  return lookUp(within, pointerTo('paths', path, method))!;
}

/** A copy, to break. */
// biome-ignore lint/suspicious/noExplicitAny: foreign data that the tests walk through
function copy(): any {
  return structuredClone(document);
}

describe('the OpenAPI document', () => {
  test('passes the recommended rules of the linter without a remark', async () => {
    assert.deepEqual(await lintDocument(document), []);
  });

  test('the linter finds a missing operationId, a dangling reference and a parameter that is not declared', async () => {
    const nameless = copy();
    delete nameless.paths['/v1/status'].get.operationId;
    assert.match((await lintDocument(nameless)).join(), /operation-operationId/);
    const dangling = copy();
    delete dangling.components.schemas.HostStatus;
    assert.match((await lintDocument(dangling)).join(), /no-unresolved-refs/);
    const undeclared = copy();
    delete undeclared.paths['/v1/sessions/{session_id}'].get.parameters;
    assert.match((await lintDocument(undeclared)).join(), /path-parameters-defined/);
  });

  test('has one operation for every route, under its id, with its scope', () => {
    const operations = Object.values(document['paths'] as Record<string, JsonObject>).flatMap((path) =>
      Object.values(path as Record<string, JsonObject>).map((operation) => [
        operation['operationId'],
        operation['x-scope'],
      ]),
    );
    assert.deepEqual(operations.sort(), routes.map(({ id, scope }) => [id, scope]).sort());
    assert.equal((document['info'] as JsonObject)['version'], '1.2.3');
  });

  for (const route of routes) {
    test(`${route.id} needs ${route.scope === 'open' ? 'no token' : `a token (${route.scope})`}`, () => {
      const { security, responses, description } = operationOf(route);
      assert.deepEqual(security, route.scope === 'open' ? [] : undefined);
      assert.equal('401' in (responses as JsonObject), route.scope !== 'open' || 401 in route.answers);
      assert.ok('403' in (responses as JsonObject), 'a foreign page is refused everywhere');
      if (route.scope in { read: 1, call: 1, approve: 1, admin: 1 })
        assert.match(String(description), RegExp(route.scope));
    });
  }

  test('describes what a route takes and answers from its definition alone', () => {
    const added = defineRoute({
      id: 'probe',
      method: 'post',
      path: '/v1/probes/{probe_id}',
      summary: 'A probe',
      scope: 'admin',
      query: z.strictObject({ depth: z.coerce.number().int().describe('How deep'), mode: z.enum(['a']).default('a') }),
      body: z.strictObject({ note: z.string().exactOptional() }),
      headers: { 'X-Probe': 'Anything' },
      answers: {
        200: { description: 'Done', schema: z.strictObject({ ok: z.boolean() }) },
        409: { description: 'Not twice' },
      },
      handle: () => ({ status: 200 }),
    });
    const { parameters, requestBody, responses } = operationOf(
      added,
      openApiDocument({ version: '1', routes: [added] }),
    );
    assert.deepEqual(
      (parameters as JsonObject[]).map(({ name, in: place, required, description }) => [
        name,
        place,
        required,
        description,
      ]),
      [
        ['probe_id', 'path', true, undefined],
        ['depth', 'query', true, 'How deep'],
        ['mode', 'query', false, undefined],
        ['X-Probe', 'header', false, 'Anything'],
      ],
    );
    assert.equal((requestBody as JsonObject)['required'], false);
    assert.deepEqual(Object.keys(responses as JsonObject), [
      '200',
      '400',
      '401',
      '403',
      '404',
      '409',
      '413',
      '429',
      '500',
    ]);
    assert.deepEqual((responses as JsonObject)['409'], {
      description: 'Not twice',
      content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorMessage' } } },
    });
  });

  test('an unexplained status is a mistake in the route', () => {
    const strange = { ...routes[0]!, answers: { 418: { description: 'A teapot' } } };
    assert.throws(() => openApiDocument({ version: '1', routes: [strange] }), TypeError);
  });

  test('is the same text every time', () => {
    const again = openApiDocument({ version: '1.2.3', routes });
    assert.equal(JSON.stringify(again), JSON.stringify(document));
  });
});
