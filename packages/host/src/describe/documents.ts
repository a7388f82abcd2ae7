/** What a host says about its own interface, written when somebody first asks. */
import type { AnyRoute } from '../http/route.ts';
import { asyncApiDocument } from './asyncapi.ts';
import { openApiDocument } from './openapi.ts';

export interface Documents {
  /** JSON texts. */
  openApi(): string;
  asyncApi(): string;
}

export function createDocuments(about: { readonly version: string; readonly routes: readonly AnyRoute[] }): Documents {
  let openApi: string | undefined;
  let asyncApi: string | undefined;
  return {
    openApi() {
      openApi ??= JSON.stringify(openApiDocument(about));
      return openApi;
    },
    asyncApi() {
      asyncApi ??= JSON.stringify(asyncApiDocument(about));
      return asyncApi;
    },
  };
}
