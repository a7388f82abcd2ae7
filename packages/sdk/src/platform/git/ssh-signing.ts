/** What git gets to sign a commit: the public key, and a socket to the agent that signs for git and nothing else. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { gitFailure } from '../../git/git-failure.ts';
import { isGitSignature, openAgentFilter } from './agent-filter.ts';
import { findSsh, readSmall, type SshTalk, type TalkOptions, withTalkFolder } from './ssh-talk.ts';

const PUBLIC_KEY = /^(?:ssh|ecdsa|sk-ssh|sk-ecdsa)-[\w@.-]+ [A-Za-z0-9+/=]+(?: [^\x00-\x1f\x7f]*)?$/;

/** Throws E_GIT without an agent, and for what is no public key. */
export function openSigning(
  key: string,
  { workspace }: Pick<TalkOptions, 'workspace'>,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<SshTalk> {
  const agent = environment['SSH_AUTH_SOCK'];
  if (agent === undefined || agent === '') {
    throw cannotSign('there is no ssh agent', 'start the runtime with SSH_AUTH_SOCK set and the key added (ssh-add)');
  }
  const publicKey = publicKeyOf(key, environment['HOME'] ?? homedir());
  if (publicKey === undefined) {
    throw cannotSign('user.signingKey is no public ssh key', 'set it to a public key, or to the path of one');
  }
  return withTalkFolder(async ({ path, put }) => {
    const socket = join(path, 'agent');
    const options = [
      'gpg.format=ssh',
      `gpg.ssh.program=${findSsh('ssh-keygen', workspace)}`,
      `user.signingKey=${put('key.pub', `${publicKey}\n`)}`,
    ];
    const filter = await openAgentFilter({ socket, agent, maySign: isGitSignature });
    return { filter, options: options.flatMap((option) => ['-c', option]), env: { SSH_AUTH_SOCK: socket } };
  });
}

function publicKeyOf(key: string, home: string): string | undefined {
  const literal = key.replace(/^key::/, '').trim();
  if (PUBLIC_KEY.test(literal)) return literal;
  const path = key.replace(/^~(?=\/)/, home);
  if (!path.startsWith('/')) return undefined;
  return [path, `${path}.pub`].map((file) => readSmall(file).trim()).find((text) => PUBLIC_KEY.test(text));
}

function cannotSign(why: string, next: string) {
  return gitFailure(`Commit cannot be signed: ${why}`, {
    path: 'sign',
    reason: 'cannot_sign',
    next: `${next}; or pass sign: false to commit without a signature`,
  });
}
