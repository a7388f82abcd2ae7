/**
 * Options of every start of git, whatever a repository's configuration says: start nothing, ask no questions, open
 * nothing, drop no side of a merge, and print in the form our parsers read.
 *
 * These stand behind the check of the configuration itself. A key the operator's registry lists is left alone.
 */

/** Keys that could start a program or reach elsewhere. A repository that sets one is reported. */
const CLOSED: readonly (readonly [string, string])[] = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['core.pager', 'cat'],
  ['core.editor', 'false'],
  ['sequence.editor', 'true'],
  ['core.askPass', ''],
  ['core.sshCommand', 'false'],
  ['credential.helper', ''],
  ['gpg.program', 'false'],
  ['gpg.openpgp.program', 'false'],
];

/** Keys whose value in a repository has no effect, so that it may be anything. */
const NEUTRAL: readonly (readonly [string, string])[] = [
  // Signatures would start programs.
  ['commit.gpgSign', 'false'],
  ['tag.gpgSign', 'false'],
  ['push.gpgSign', 'false'],
  ['gpg.format', 'openpgp'],
  ['log.showSignature', 'false'],
  ['merge.verifySignatures', 'false'],
  // So would maintenance, and submodules bring configuration of their own.
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['receive.autogc', 'false'],
  ['fetch.recurseSubmodules', 'false'],
  ['push.recurseSubmodules', 'no'],
  ['submodule.recurse', 'false'],
  ['diff.ignoreSubmodules', 'dirty'],
  ['diff.submodule', 'short'],
  ['status.submoduleSummary', 'false'],
  // A second connection that no gate has seen, and words for programs of the remote.
  ['push.negotiate', 'false'],
  ['push.pushOption', ''],
  // Lines of a to-do list are made from these.
  ['rebase.instructionFormat', '%s'],
  ['rebase.backend', 'merge'],
  ['rebase.abbreviateCommands', 'false'],
  ['rebase.rebaseMerges', 'false'],
  ['rebase.updateRefs', 'false'],
  ['rebase.autoStash', 'false'],
  ['rebase.missingCommitsCheck', 'ignore'],
  ['rebase.rescheduleFailedExec', 'false'],
  ['core.commentChar', '#'],
  // A strategy can be a program, or drop a side. Of pull.twohead the first value counts, so it is judged instead.
  ['pull.octopus', 'octopus'],
  ['rerere.enabled', 'false'],
  // Files that git would read and quote in its complaints.
  ['core.attributesFile', '/dev/null'],
  ['blame.ignoreRevsFile', ''],
  ['commit.template', '/dev/null'],
  ['diff.orderFile', '/dev/null'],
  ['mailmap.file', '/dev/null'],
  // What rules judge is read from git's output: no setting may leave something out or change its form.
  ['core.bigFileThreshold', '512m'],
  ['core.quotePath', 'false'],
  ['core.preferSymlinkRefs', 'false'],
  ['log.showRoot', 'true'],
  ['log.diffMerges', 'separate'],
  ['diff.noprefix', 'false'],
  ['diff.mnemonicPrefix', 'false'],
  ['diff.relative', 'false'],
  ['diff.suppressBlankEmpty', 'false'],
  ['status.showUntrackedFiles', 'all'],
  ['i18n.commitEncoding', 'UTF-8'],
  ['i18n.logOutputEncoding', 'UTF-8'],
  ['color.ui', 'false'],
  ['color.branch', 'false'],
  ['color.diff', 'false'],
  ['color.grep', 'false'],
  ['color.interactive', 'false'],
  ['color.push', 'false'],
  ['color.remote', 'false'],
  ['color.showBranch', 'false'],
  ['color.status', 'false'],
  ['color.transport', 'false'],
  ['color.advice', 'false'],
  ['column.ui', 'never'],
  ['advice.detachedHead', 'false'],
  // The file of grafts is set to nothing below, and git would still advise against it.
  ['advice.graftFileDeprecated', 'false'],
];

/** In lower case, like `NEUTRAL_KEYS`. */
export const CLOSED_KEYS: ReadonlySet<string> = new Set(CLOSED.map(([key]) => key.toLowerCase()));
export const NEUTRAL_KEYS: ReadonlySet<string> = new Set(NEUTRAL.map(([key]) => key.toLowerCase()));

export function fixedOptions(isListed: (key: string) => boolean): readonly string[] {
  return [...CLOSED, ...NEUTRAL]
    .filter(([key]) => !isListed(key.toLowerCase()))
    .flatMap(([key, value]) => ['-c', `${key}=${value}`]);
}

/** What git writes into its own folder reaches the disk before git ends. Its work tree files it cannot sync. */
export const FULL_SYNC_OPTIONS: readonly string[] = ['-c', 'core.fsync=all', '-c', 'core.fsyncMethod=fsync'];

/** Everything git may learn from its environment. Built from nothing. */
export function fixedEnvironment(home: string): Record<string, string> {
  return {
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    HOME: home,
    LC_ALL: 'C.UTF-8',
    TZ: process.env['TZ'] ?? 'UTC',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: 'false',
    SSH_ASKPASS: 'false',
    GIT_SSH_COMMAND: 'false',
    GIT_EDITOR: 'false',
    GIT_SEQUENCE_EDITOR: 'true',
    GIT_PAGER: 'cat',
    // No transport at all: a run that talks to a remote brings the one of that remote.
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_PROTOCOL_FROM_USER: '0',
    GIT_NO_LAZY_FETCH: '1',
    // Neither replaced objects nor grafts: history is what the objects say.
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_GRAFT_FILE: '/dev/null',
    GIT_MERGE_AUTOEDIT: 'no',
    GIT_FLUSH: '0',
  };
}
