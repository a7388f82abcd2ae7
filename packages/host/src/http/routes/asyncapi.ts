/** The connections that stay open, described like the routes are. */
import { z } from 'zod';
import { defineRoute } from '../route.ts';

export const asyncapi = defineRoute({
  id: 'asyncapi',
  method: 'get',
  path: '/asyncapi.json',
  summary: 'WebSocket, Unix socket, standard streams and events as an AsyncAPI document',
  scope: 'open',
  answers: { 200: { description: 'AsyncAPI 3.0', schema: z.looseObject({ asyncapi: z.literal('3.0.0') }) } },
  handle: ({ documents }) => ({ status: 200, text: documents.asyncApi() }),
});
