/** `git`: pushes, commits, repository configuration and credentials. */
import { z } from 'zod';
import type { GitSettings } from '../../contracts/registry.ts';
import { shownNames } from '../../text/names.ts';
import { isWritten, type Narrowing } from '../narrowing.ts';
import { defineSection } from '../section.ts';

/** At least a section and a name: a lone wildcard would switch the check off by accident. */
const CONFIG_KEY = /^[A-Za-z][A-Za-z0-9-]*\.[^\s]+$/;

const schema = z.strictObject({
  allow_push: z
    .boolean()
    .default(false)
    .describe('Whether anything may be pushed; also opens local remotes outside the workspace'),
  allow_force_push: z
    .boolean()
    .default(false)
    .describe('Whether pushes may replace or delete what the remote has; never on protected branches'),
  require_clean_tree_for_commit: z
    .boolean()
    .default(false)
    .describe(
      'Refuse commits and pushes while tracked files have unstaged changes; otherwise they stay where they are',
    ),
  signoff: z
    .boolean()
    .default(false)
    .describe('Add Signed-off-by to every commit, unless the call says otherwise; format.signOff does the same'),
  signing: z
    .enum(['off', 'agent'])
    .default('off')
    .describe(
      'agent: commits are signed by the ssh agent of the operator where commit.gpgSign or the call asks for it',
    ),
  hooks: z
    .enum(['off', 'sandboxed'])
    .default('off')
    .describe(
      'sandboxed: pre-commit, prepare-commit-msg, commit-msg and pre-push hooks run in the sandbox of commands',
    ),
  allow_config: z
    .array(z.string().regex(CONFIG_KEY, 'Not a configuration key: write section.name, with * as wildcard'))
    .default([])
    .describe('Keys of repository configuration that may run programs, such as filter.lfs.*; all others are refused'),
  credentials: z
    .record(z.string().min(1), z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'Not the name of a variable'))
    .default({})
    .describe(
      'Host → name of the environment variable that holds its token; sent over https only, unless network.insecure_credentials lists the host',
    ),
});

export const git = defineSection({
  keys: { git: schema.prefault({}).describe('Git guards') },
  build: (written) => ({ git: written.git as GitSettings }),
  narrow: (narrowing) => ({ git: narrowGit(narrowing) }),
  needs: (written) => (written.git.allow_push ? 'network' : undefined),
});

function narrowGit({ host, session, overreach }: Narrowing): GitSettings {
  if (session.git.allow_push && !host.git.allow_push) {
    overreach.push({ path: 'git.allow_push', message: 'Push is not allowed by the host' });
  }
  if (session.git.allow_force_push && !host.git.allow_force_push) {
    overreach.push({ path: 'git.allow_force_push', message: 'Forced push is not allowed by the host' });
  }
  const path = 'git.require_clean_tree_for_commit';
  const isLoose = !session.git.require_clean_tree_for_commit && isWritten(session, path);
  if (isLoose && host.git.require_clean_tree_for_commit) {
    overreach.push({ path, message: 'Clean tree is required by the host' });
  }
  if (session.git.signing === 'agent' && host.git.signing === 'off') {
    overreach.push({ path: 'git.signing', message: 'Signing is not allowed by the host' });
  }
  if (session.git.hooks !== host.git.hooks && isWritten(session, 'git.hooks')) {
    overreach.push({ path: 'git.hooks', message: `Hooks are ${host.git.hooks} at the host` });
  }
  const added = session.git.allow_config.filter((key) => !host.git.allow_config.includes(key));
  if (added.length > 0) {
    const message = `Repository configuration is not allowed by the host: ${shownNames(added)}`;
    overreach.push({ path: 'git.allow_config', message });
  }
  const named = Object.entries(session.git.credentials).filter(([at, name]) => host.git.credentials[at] !== name);
  if (named.length > 0) {
    overreach.push({ path: 'git.credentials', message: 'Credentials are not those of the host' });
  }
  return {
    allow_push: host.git.allow_push && session.git.allow_push,
    allow_force_push: host.git.allow_force_push && session.git.allow_force_push,
    require_clean_tree_for_commit: host.git.require_clean_tree_for_commit || session.git.require_clean_tree_for_commit,
    signing: host.git.signing === 'agent' && session.git.signing === 'agent' ? 'agent' : 'off',
    hooks: host.git.hooks,
    signoff: host.git.signoff || session.git.signoff,
    allow_config: host.git.allow_config.filter((key) => session.git.allow_config.includes(key)),
    credentials: Object.fromEntries(
      Object.entries(host.git.credentials).filter(([at, name]) => session.git.credentials[at] === name),
    ),
  };
}
