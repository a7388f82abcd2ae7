import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { createAuthorization, type PersonSignIn, type SignIn } from './oauth-provider.ts';
import type { UpstreamTransport } from './open-transport.ts';

const BACK = 'http://127.0.0.1:1/back';

/** Comes back from the authorization server with this `state`. */
function signIn(stateOf: (url: URL) => string, more: Partial<PersonSignIn> = {}): SignIn {
  return {
    redirectUrl: BACK,
    authorize: async (url) => new URL(`${BACK}?code=c0de&state=${encodeURIComponent(stateOf(url))}`),
    ...more,
  };
}

/** Told the code it may trade. */
function transport(codes: (string | null)[]): UpstreamTransport {
  const finishAuth = async (given: URLSearchParams) => void codes.push(given.get('code'));
  return { finishAuth } as unknown as UpstreamTransport;
}

async function goThrough(stateOf: (url: URL) => string): Promise<unknown> {
  const codes: (string | null)[] = [];
  const { provider, finish } = createAuthorization(signIn(stateOf));
  const state = await provider.state?.();
  await provider.redirectToAuthorization(new URL(`https://login.example/authorize?state=${state}`));
  try {
    await finish(transport(codes));
  } catch (thrown) {
    assert.deepEqual(codes, [], 'nothing is traded');
    return isToolError(thrown) ? thrown.details['reason'] : thrown;
  }
  return codes;
}

describe('signing in to a mounted server', () => {
  test('trades the code of the sign-in it began, and of no other', async () => {
    assert.deepEqual(await goThrough((url) => url.searchParams.get('state') ?? ''), ['c0de']);
    assert.equal(await goThrough(() => 'guessed'), 'state_mismatch');
    assert.equal(await goThrough(() => ''), 'state_mismatch');
  });

  test('has a new state each time', async () => {
    const { provider } = createAuthorization(signIn(() => ''));
    assert.notEqual(await provider.state?.(), await provider.state?.());
  });

  test('shows a client that was registered beforehand to its own authorization server only', async () => {
    const [own, other] = [{ issuer: 'https://login.example' }, { issuer: 'https://elsewhere.example' }];
    const client = { client_id: 'registered', ...own };
    const { provider } = createAuthorization(signIn(() => '', { client }));
    assert.deepEqual(await provider.clientInformation(own), client);
    assert.deepEqual(await provider.clientInformation(other), client, 'still says whose it is');
    const free = createAuthorization(signIn(() => '', { client: { client_id: 'registered' } })).provider;
    assert.deepEqual(await free.clientInformation(own), client);
  });

  test('signs in as a program with its secret, and never sends a person anywhere', async () => {
    const { provider } = createAuthorization({ clientId: 'ours', credential: { secret: 's3cret' }, scope: 'read' });
    const context = { issuer: 'https://login.example' };
    assert.deepEqual(await provider.clientInformation(context), {
      client_id: 'ours',
      client_secret: 's3cret',
      ...context,
    });
    const grant = await provider.prepareTokenRequest?.();
    assert.deepEqual(Object.fromEntries(grant ?? []), { grant_type: 'client_credentials', scope: 'read' });
    assert.equal(provider.redirectUrl, undefined);
    await assert.rejects(
      async () => provider.redirectToAuthorization(new URL('https://login.example/authorize')),
      (thrown) => isToolError(thrown) && thrown.details['reason'] === 'client_credentials_refused',
    );
  });

  test('shows the credential of the registry to its issuer, and to no other authorization server', async () => {
    const issuer = 'https://login.example/tenant';
    const { provider } = createAuthorization({ issuer, clientId: 'ours', credential: { secret: 's3cret' } });
    for (const named of [issuer, `${issuer}/`]) {
      const shown = await provider.clientInformation({ issuer: named });
      assert.equal(shown?.client_id, 'ours');
    }
    for (const named of [
      'https://login.example',
      'https://evil.example/tenant',
      'http://login.example/tenant',
      undefined,
    ]) {
      await assert.rejects(
        async () => provider.clientInformation(named === undefined ? undefined : { issuer: named }),
        (thrown) => isToolError(thrown) && thrown.details['reason'] === 'issuer_mismatch',
      );
    }
  });

  test('binds tokens to one key when asked to, and to none otherwise', async () => {
    const credential = { secret: 's3cret' };
    const { provider } = createAuthorization({ clientId: 'ours', credential, dpop: true });
    const session = await provider.dpop?.();
    assert.match(session?.thumbprint ?? '', /^[\w-]{43}$/);
    assert.equal(await provider.dpop?.(), session);
    assert.equal(createAuthorization({ clientId: 'ours', credential }).provider.dpop, undefined);
  });

  test('forgets the tokens that turned out bad, and keeps them otherwise', async () => {
    const { provider } = createAuthorization(signIn(() => ''));
    const context = { issuer: 'https://login.example' };
    const tokens = { access_token: 'token', token_type: 'Bearer' };
    await provider.saveTokens(tokens, context);
    await provider.invalidateCredentials?.('discovery');
    assert.deepEqual([await provider.tokens(), await provider.tokens(context)], [tokens, tokens]);
    await provider.invalidateCredentials?.('tokens');
    assert.deepEqual([await provider.tokens(), await provider.tokens(context)], [undefined, undefined]);
  });
});
