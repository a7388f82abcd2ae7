/** A client whose code (HTTP, TLS, compression) is loaded with the first request: most sessions never send one. */
import { once } from '@tool-runtime/protocol/internal';
import type { OpenHttpClient } from '../../contracts/http.ts';
import type { HttpClientOptions } from './http-client.ts';

export function lazyHttpClient(options: HttpClientOptions): OpenHttpClient {
  let opening: Promise<OpenHttpClient> | undefined;
  const open = once(() => {
    opening = import('./http-client.ts').then(({ createHttpClient }) => createHttpClient(options));
    return opening;
  });
  return {
    send: async (request) => (await open()).send(request),
    close() {
      // The sender was told about a failed load.
      opening?.then((client) => client.close()).catch(() => {});
    },
  };
}
