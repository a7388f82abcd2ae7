/** Whether a commit is to be signed, and how. A wish that cannot be met is refused or reported, never dropped. */
import { policyDenial } from '../../contracts/failures.ts';
import type { GitRun } from '../../contracts/git.ts';
import type { ToolContext } from '../../contracts/tool.ts';
import { isTrue } from '../../git/parse-config.ts';

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

/** Throws E_POLICY when the commit should be signed and may not or cannot be. */
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
export async function warnOfMissingSignature(context: Asking & Pick<ToolContext, 'warn'>): Promise<void> {
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
