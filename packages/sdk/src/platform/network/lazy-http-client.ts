/** A client whose code (HTTP, TLS, compression) is loaded with the first request: most sessions never send one. */
import type { OpenHttpClient } from '../../contracts/http.ts';
import { forgetFailed } from '../forget-failed.ts';
import type { HttpClientOptions } from './http-client.ts';

export function lazyHttpClient(options: HttpClientOptions): OpenHttpClient {
  let opening: Promise<OpenHttpClient> | undefined;
  return {
    async send(request) {
      opening ??= forgetFailed(
        import('./http-client.ts').then(({ createHttpClient }) => createHttpClient(options)),
        () => {
          opening = undefined;
        },
      );
      return (await opening).send(request);
    },
    close() {
      // A failed load was already reported to whoever sent.
      opening?.then((client) => client.close()).catch(() => {});
    },
  };
}
