/** Requests as the page of the console sends them. */
import type { ConsoleRole, SignedIn } from '@tool-runtime/protocol';
import type { TestHost } from './open-host.ts';

/** The code of a fresh link. */
export async function codeOf(host: TestHost, role: ConsoleRole = 'approver'): Promise<string> {
  const answer = await host.request('/v1/console/links', { body: { role } });
  const { path } = (await answer.json()) as { readonly path: string };
  return path.slice('/#code='.length);
}

export interface PageRequest {
  readonly token: '';
  readonly headers: { readonly cookie: string; readonly 'x-console-key': string; readonly origin: string };
}

/** For `host.request`: the cookie, the key and the origin of a page that has signed in. */
export async function signedIn(host: TestHost, role: ConsoleRole = 'approver'): Promise<PageRequest> {
  const answer = await host.request('/v1/console/sign-in', {
    ...{ body: { code: await codeOf(host, role) }, token: '' },
    headers: { origin: host.url },
  });
  const { key } = (await answer.json()) as SignedIn;
  const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';');
  return { token: '', headers: { cookie, 'x-console-key': key, origin: host.url } };
}
