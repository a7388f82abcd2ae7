/** The host describes its own routes; whoever asks needs no token, because nothing in it is secret. */
import { z } from 'zod';
import { defineRoute } from '../route.ts';

export const openapi = defineRoute({
  id: 'openapi',
  method: 'get',
  path: '/openapi.json',
  summary: 'This interface as an OpenAPI document',
  scope: 'open',
  answers: { 200: { description: 'OpenAPI 3.1', schema: z.looseObject({ openapi: z.literal('3.1.0') }) } },
  handle: ({ documents }) => ({ status: 200, text: documents.openApi() }),
});
