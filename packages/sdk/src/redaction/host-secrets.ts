/** The secrets a registry names: variables of the host that hold tokens, and what is given to programs and servers. */
import type { Registry } from '../contracts/registry.ts';
import { headerSecrets, isSecretVariable } from './redact-words.ts';

type Named = Pick<Registry, 'git' | 'externalTools' | 'mcpServers'>;

const MIN_LENGTH = 6;

export function hostSecrets(
  { git, externalTools, mcpServers }: Named,
  environment: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const held = (name: string): string => environment[name] ?? '';
  const servers = [...mcpServers.values()];
  const found = [
    ...Object.values(git.credentials).map(held).flatMap(gitSecrets),
    ...externalTools.flatMap(({ secrets }) => secrets.map(held)),
    // A server is also given plain settings, which are words of ordinary text.
    ...servers.flatMap(({ env }) => env.filter(isSecretVariable).map(held)),
    ...servers.flatMap(({ client_credentials: own }) =>
      [own?.secret_env, own?.private_key_env].map((name) => held(name ?? '')),
    ),
    ...servers.flatMap(({ headers_env }) => Object.values(headers_env).map(held).flatMap(headerSecrets)),
  ];
  return [...new Set(found)].filter((value) => value.length >= MIN_LENGTH);
}

/** As git sends it: `user:token` in base64, where a token alone gets the usual name. */
export function gitSecrets(token: string): readonly string[] {
  const password = token.slice(token.indexOf(':') + 1);
  return token === '' ? [] : [token, password, `x-access-token:${token}`];
}
