/**
 * Settings of a repository that would start programs or reach elsewhere, and the values that replace them.
 *
 * Git takes the last value of a key, and the command line comes last. A key without a value here has no effect on the
 * verbs we use. Keys that `fixed-options.ts` closes on every start are not listed again.
 */

import type { ErrorEntry } from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';
import { CLOSED_KEYS } from './fixed-options.ts';

export interface OverriddenKey {
  readonly key: string;
  readonly why: string;
  /** Undefined: nothing has to be said to git. */
  readonly value: string | undefined;
}

interface Override {
  readonly key: RegExp;
  readonly why: string;
  readonly value?: string;
}

/** The built-in merge of text as a driver. Any failure is a conflict, so no side is lost. */
const TEXT_MERGE = 'git merge-file --marker-size=%L -L ours -L base -L theirs %A %O %B || exit 1';

const OVERRIDES: readonly Override[] = [
  { key: /^filter\..*\.(?:clean|smudge|process)$/s, why: 'runs a program on the content of files', value: '' },
  { key: /^filter\..*\.required$/s, why: 'requires a filter that is off', value: 'false' },
  {
    key: /^diff\.(?:external|.*\.(?:command|textconv))$/s,
    why: 'runs a program on the content of files',
    value: 'false',
  },
  { key: /^merge\..*\.driver$/s, why: 'runs a program on the content of files', value: TEXT_MERGE },
  { key: /^merge\.(?:default|.*\.recursive)$/s, why: 'names a merge driver', value: 'text' },
  { key: /^gpg\.(?:(?:ssh|x509)\.program|ssh\.defaultkeycommand)$/, why: 'runs a program', value: 'false' },
  { key: /^credential\.(?:.*\.)?helper$/s, why: 'runs a program', value: '' },
  { key: /^pager\./, why: 'runs a program', value: 'false' },
  { key: /^trailer\..*\.(?:command|cmd)$/s, why: 'runs a program', value: 'true' },
  { key: /^core\.alternaterefscommand$/, why: 'runs a program', value: 'true' },
  { key: /^alias\.(?:merge|remote|credential)-/s, why: 'replaces a program that git looks up by name', value: 'false' },
  { key: /^credential\./, why: 'is for credential helpers' },
  { key: /^core\.gitproxy$/, why: 'runs a program to reach git:// remotes' },
  { key: /^interactive\.difffilter$/, why: 'runs a program' },
  { key: /^submodule\..*\.update$/s, why: 'runs a program in submodules' },
  { key: /^tar\..*\.command$/s, why: 'runs a program' },
  { key: /^uploadpack\.packobjectshook$/, why: 'runs a program' },
  { key: /^receive\.procreceiverefs$/, why: 'runs a hook of the repository' },
  { key: /^protocol\.(?:.*\.)?allow$/s, why: 'allows transports' },
  { key: /^core\.worktree$/, why: 'moves the work tree elsewhere' },
  // Remotes are contacted under a name of our own, with the address and options we checked.
  { key: /^remote\..*\.(?:uploadpack|receivepack|vcs)$/s, why: 'runs a program to reach the remote' },
  { key: /^remote\..*\.(?:proxy|proxyauthmethod|serveroption)$/s, why: 'changes how a remote is reached' },
  { key: /^lfs\./, why: 'is for git-lfs, which is not started' },
];

interface SettingNotices {
  /** Keys that were reported before are left out. */
  add(overridden: readonly OverriddenKey[]): void;
  take(): readonly ErrorEntry[];
}

const NAMED = 10;
const MAX_SHOWN = 50;

/** Undefined: git cannot be made to ignore the key. `-c` ends the key at the first `=`. */
export function overrideOf(key: string): OverriddenKey | undefined {
  if (CLOSED_KEYS.has(key)) return { key, why: 'runs a program', value: undefined };
  if (/[=\n]/.test(key)) return undefined;
  const found = OVERRIDES.find((known) => known.key.test(key));
  return found === undefined ? undefined : { key, why: found.why, value: found.value };
}

export function overrideWords(overridden: readonly OverriddenKey[]): readonly string[] {
  return overridden.flatMap(({ key, value }) => (value === undefined ? [] : ['-c', `${key}=${value}`]));
}

/** One warning per session about settings of its repository that are overridden. */
export function createSettingNotices(): SettingNotices {
  const known = new Set<string>();
  let pending: OverriddenKey[] = [];
  return {
    add(overridden) {
      const fresh = overridden.filter(({ key }) => !known.has(key));
      for (const { key } of fresh) known.add(key);
      pending.push(...fresh);
    },
    take() {
      const told = pending;
      pending = [];
      return told.length === 0 ? [] : [notice(told)];
    },
  };
}

function notice(overridden: readonly OverriddenKey[]): ErrorEntry {
  const names = overridden.map(({ key }) => safeText(key, 120));
  const left = names.length - NAMED;
  const shown = `${names.slice(0, NAMED).join(', ')}${left > 0 ? ` and ${left} more` : ''}`;
  const hasFilter = overridden.some(({ key }) => key.startsWith('filter.'));
  const filters = ' Filters are off: a file of git-lfs is read and written as its pointer.';
  return {
    code: 'E_GIT',
    message: `Settings of the repository are not used: ${shown}.${hasFilter ? filters : ''}`,
    details: {
      reason: 'settings_not_used',
      settings: overridden.slice(0, MAX_SHOWN).map(({ key, why }) => ({ key: safeText(key, 120), why })),
      next: 'nothing; to use one, have the operator list it in git.allow_config',
    },
  };
}
