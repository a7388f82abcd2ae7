/** The host describes its own interfaces. Nothing in the documents is secret, so they need no token. */
import { z } from 'zod';
import { defineRoute } from '../route.ts';

/** The host describes its own routes; whoever asks needs no token, because nothing in it is secret. */
export const openapi = defineRoute({
  id: 'openapi',
  method: 'get',
  path: '/openapi.json',
  summary: 'This interface as an OpenAPI document',
  scope: 'open',
  answers: { 200: { description: 'OpenAPI 3.1', schema: z.looseObject({ openapi: z.literal('3.1.0') }) } },
  handle: ({ documents }) => ({ status: 200, text: documents.openApi() }),
});

/** The connections that stay open, described like the routes are. */
export const asyncapi = defineRoute({
  id: 'asyncapi',
  method: 'get',
  path: '/asyncapi.json',
  summary: 'WebSocket, Unix socket, standard streams and events as an AsyncAPI document',
  scope: 'open',
  answers: { 200: { description: 'AsyncAPI 3.0', schema: z.looseObject({ asyncapi: z.literal('3.0.0') }) } },
  handle: ({ documents }) => ({ status: 200, text: documents.asyncApi() }),
});
