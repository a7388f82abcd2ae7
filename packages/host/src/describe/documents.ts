/** What a host says about its own interface, written when somebody first asks. */
import type { Documents } from '../http/route.ts';
import { ROUTES } from '../http/route-list.ts';
import { asyncApiDocument } from './asyncapi.ts';
import { openApiDocument } from './openapi.ts';
import { withTools } from './tool-schemas.ts';

export function createDocuments(version: string): Documents {
  const about = { version, routes: ROUTES };
  let openApi: string | undefined;
  let asyncApi: string | undefined;
  return {
    openApi() {
      openApi ??= JSON.stringify(openApiDocument(about));
      return openApi;
    },
    openApiFor: (tools) => JSON.stringify(withTools(openApiDocument(about), tools)),
    asyncApi() {
      asyncApi ??= JSON.stringify(asyncApiDocument(about));
      return asyncApi;
    },
  };
}
