/** The committer's name as environment variables for git, with a warning when none is configured. */
import { policyDenial } from '../../contracts/failures.ts';
import type { GitRun } from '../../contracts/git.ts';
import type { ToolContext } from '../../contracts/tool.ts';
import { isTrue } from '../../git/parse-config.ts';

/** For verbs whose commits are not signed, which is said where it is not what was configured. */
export async function committerEnvironment(context: ToolContext): Promise<Readonly<Record<string, string>>> {
  await warnOfMissingSignature(context);
  return committerVariables(context);
}

export async function committerVariables({ git, warn }: ToolContext): Promise<Readonly<Record<string, string>>> {
  const { name, email, madeUp } = await git.identity();
  if (madeUp) {
    warn({
      code: 'E_GIT',
      message: `No committer is configured: ${name} <${email}> is used`,
      details: { reason: 'no_identity', next: 'set user.name and user.email in the repository or for the operator' },
    });
  }
  return {
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
  };
}

/**
 * For verbs that replay commits: authors stay who they are, only the committer is ours. Where git would open an editor, its
 * own proposal is taken: by this name git knows that there is no program to start.
 */
export async function rebaseEnvironment(context: ToolContext): Promise<Readonly<Record<string, string>>> {
  const all = Object.entries(await committerEnvironment(context));
  const committer = all.filter(([name]) => name.startsWith('GIT_COMMITTER_'));
  return { ...Object.fromEntries(committer), GIT_EDITOR: ':', GIT_SEQUENCE_EDITOR: ':' };
}

type Asking = Pick<ToolContext, 'git' | 'registry'>;

async function settingsOf({ git }: Asking): Promise<(key: string) => string | undefined> {
  const [own, operator] = await Promise.all([git.config(), git.operatorConfig()]);
  return (key) => own.get(key) ?? operator.get(key);
}

export interface Signing {
  /** Option of `git commit`. */
  readonly word: string;
  readonly run: Pick<GitRun, 'signing'>;
}

/**
 * Whether a commit is to be signed, and how. A wish that cannot be met is refused or reported, never dropped.
 *
 * Throws E_POLICY when the commit should be signed and may not or cannot be.
 */
export async function signingOf(asked: boolean | undefined, context: Asking): Promise<Signing> {
  const setting = await settingsOf(context);
  if (!(asked ?? isTrue(setting('commit.gpgsign')))) return { word: '--no-gpg-sign', run: {} };
  if (context.registry.git.signing === 'off')
    throw unsigned('signing is off', 'have the operator set git.signing: agent');
  const key = setting('user.signingkey');
  if (setting('gpg.format') !== 'ssh' || key === undefined) {
    throw unsigned('only ssh signatures are made', 'set gpg.format to ssh and user.signingKey to the public key');
  }
  return { word: '--gpg-sign', run: { signing: { key } } };
}

/** For verbs that commit on the way: their commits are not signed, and the answer says so. */
async function warnOfMissingSignature(context: Asking & Pick<ToolContext, 'warn'>): Promise<void> {
  const setting = await settingsOf(context);
  if (!isTrue(setting('commit.gpgsign'))) return;
  context.warn({
    code: 'E_GIT',
    message: 'commit.gpgSign is set, but commits that this verb makes are not signed',
    details: { reason: 'not_signed', next: 'sign them with git itself before you publish them' },
  });
}

function unsigned(why: string, next: string) {
  return policyDenial(`The commit is to be signed, but ${why}`, {
    path: 'sign',
    details: {
      gate: 'git_signing',
      reason: 'cannot_sign',
      next: `pass sign: false to commit without a signature, or ${next}`,
    },
  });
}
