/**
 * Who commits: the repository's own word, then the environment of this process, then the operator's configuration, else a
 * name made up from the session's actor.
 */
import type { GitConfig, GitIdentity } from '../../contracts/git.ts';

export interface IdentitySources {
  readonly config: GitConfig;
  readonly operator: GitConfig;
  readonly actor: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export function findIdentity({ config, operator, actor, environment }: IdentitySources): GitIdentity {
  const name = config.get('user.name') ?? environment['GIT_AUTHOR_NAME'] ?? written(operator, 'user.name');
  const email = config.get('user.email') ?? environment['GIT_AUTHOR_EMAIL'] ?? written(operator, 'user.email');
  if (name !== undefined && name !== '' && email !== undefined && email !== '') return { name, email, madeUp: false };
  const plain = actor.replace(/[^\p{L}\p{N} ._-]/gu, '').trim() || 'tool-runtime';
  const local = plain.normalize('NFKD').replace(/[^A-Za-z0-9._-]/g, '') || 'tool-runtime';
  return { name: name ?? plain, email: email ?? `${local}@tool-runtime.invalid`, madeUp: true };
}

function written(config: GitConfig, key: string): string | undefined {
  return config.get(key) || undefined;
}
