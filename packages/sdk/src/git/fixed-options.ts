/**
 * What git is told on every start, whatever a repository's configuration says: start nothing, ask nobody, open nothing.
 *
 * These stand behind the check of the configuration itself. A key the operator's registry lists is left alone.
 */
import { isListed } from './judge-config.ts';

const SETTINGS: readonly (readonly [string, string])[] = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['core.pager', 'cat'],
  ['core.editor', 'false'],
  ['sequence.editor', 'true'],
  ['core.askPass', ''],
  ['core.sshCommand', 'false'],
  ['core.attributesFile', '/dev/null'],
  ['credential.helper', ''],
  ['commit.gpgSign', 'false'],
  ['tag.gpgSign', 'false'],
  ['push.gpgSign', 'false'],
  ['gpg.program', 'false'],
  ['log.showSignature', 'false'],
  ['merge.verifySignatures', 'false'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['fetch.recurseSubmodules', 'false'],
  ['push.recurseSubmodules', 'no'],
  ['submodule.recurse', 'false'],
  ['diff.ignoreSubmodules', 'dirty'],
  ['diff.submodule', 'short'],
  ['diff.noprefix', 'false'],
  ['diff.mnemonicPrefix', 'false'],
  ['status.submoduleSummary', 'false'],
  ['status.showUntrackedFiles', 'all'],
  ['rerere.enabled', 'false'],
  ['core.quotePath', 'false'],
  ['color.ui', 'false'],
  ['column.ui', 'never'],
  ['advice.detachedHead', 'false'],
];

export function fixedOptions(listed: readonly string[]): readonly string[] {
  return SETTINGS.filter(([key]) => !isListed(key.toLowerCase(), listed)).flatMap(([key, value]) => [
    '-c',
    `${key}=${value}`,
  ]);
}

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
    GIT_ALLOW_PROTOCOL: 'file:http:https',
    GIT_PROTOCOL_FROM_USER: '0',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_MERGE_AUTOEDIT: 'no',
    GIT_FLUSH: '0',
  };
}
