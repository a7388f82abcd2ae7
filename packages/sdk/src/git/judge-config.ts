/** Checks every key of a repository's configuration before git runs in it, and finds what git must be told to ignore. */
import type { ErrorEntry } from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';
import { policyDenial } from '../contracts/failures.ts';
import { CLOSED_KEYS, NEUTRAL_KEYS } from './fixed-options.ts';
import { HARMFUL_CONFIG, HARMLESS_CONFIG } from './harmless-config.ts';
import type { ConfigEntry } from './parse-config.ts';

const WHY: readonly { readonly key: RegExp; readonly why: string }[] = [
  { key: /^filter\./, why: 'runs a program on the content of files' },
  { key: /^(?:diff|merge)\..*\.(?:command|textconv|driver)$/s, why: 'runs a program on the content of files' },
  { key: /^diff\.external$/, why: 'runs a program on the content of files' },
  { key: /^core\.worktree$/, why: 'moves the work tree elsewhere' },
  { key: /^include(?:if)?\./, why: 'includes configuration from elsewhere' },
  { key: /^alias\./, why: 'replaces a program that git looks up by name' },
  { key: /^receive\.procreceiverefs$/, why: 'runs a hook of the repository' },
  { key: /^pull\.twohead$/, why: 'names a merge strategy that may be a program or drop a side' },
  { key: /^url\./, why: 'redirects remotes' },
  { key: /^http\./, why: 'changes how remotes are reached' },
  { key: /^remote\..*\.(?:uploadpack|receivepack|vcs)$/s, why: 'runs a program to reach the remote' },
];

export interface Judging {
  /** Begins the message. */
  readonly whose?: string;
  /** `file:line` of the list. */
  readonly registryAt?: string | undefined;
  /** `fixed`: only keys closed on every start are overridden, because the other side of a talk gets no others. */
  readonly overrides?: 'all' | 'fixed';
}

/**
 * Answers the keys that git must ignore. Throws E_POLICY for the first one that is neither harmless nor listed by the
 * operator and that git cannot be made to ignore.
 */
export function judgeConfig(
  entries: readonly ConfigEntry[],
  listed: readonly string[],
  { whose = 'Repository', registryAt, overrides = 'all' }: Judging = {},
): readonly OverriddenKey[] {
  const overridden = new Map<string, OverriddenKey>();
  for (const { key, value } of entries) {
    if (isHarmless(key, value) || isListed(key, listed)) continue;
    const override = overrides === 'all' || CLOSED_KEYS.has(key) ? overrideOf(key) : undefined;
    // With its filter, git-lfs itself runs, and its settings count.
    if (override !== undefined && !(key.startsWith('lfs.') && isListed('filter.lfs.process', listed))) {
      overridden.set(key, override);
      continue;
    }
    const why = WHY.find((known) => known.key.test(key))?.why ?? 'may run programs or reach elsewhere';
    throw policyDenial(`${whose} configuration is not allowed, it ${why}: ${safeText(key, 120)}`, {
      path: safeText(key, 120),
      details: {
        gate: 'git_config',
        reason: 'repository_config',
        key: safeText(key, 120),
        ...(registryAt === undefined ? {} : { registry: registryAt }),
        next: `remove the key (git config --unset-all ${safeText(key, 120)}), or have the operator list it in git.allow_config`,
      },
    });
  }
  return [...overridden.values()];
}

function isHarmless(key: string, value: string): boolean {
  if (HARMFUL_CONFIG.test(key)) return false;
  if (NEUTRAL_KEYS.has(key)) return true;
  return CLASSES.some((known) => (known.plain.has(key) || matchesOne(key, known.families)) && known.value.test(value));
}

const CLASSES = HARMLESS_CONFIG.map(({ keys, value }) => ({
  value,
  plain: new Set(keys.filter((key) => !key.includes('*'))),
  families: keys.filter((key) => key.includes('*')).map(keyPattern),
}));

function matchesOne(key: string, families: readonly RegExp[]): boolean {
  return families.some((family) => family.test(key));
}

/** Whether a registry's list of keys covers one; `filter.lfs.*` covers all of the section. Case does not matter. */
export function isListed(key: string, listed: readonly string[]): boolean {
  return listed.some((pattern) => keyPattern(pattern.toLowerCase()).test(key.toLowerCase()));
}

/** Not a glob: `*` crosses `/` and `.` (keys hold URLs), and `?`, `[` and `{` are plain characters. */
function keyPattern(pattern: string): RegExp {
  const source = pattern.split('*').map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'));
  return new RegExp(`^${source.join('.*')}$`, 's');
}

interface OverriddenKey {
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

/**
 * Settings of a repository that would start programs or reach elsewhere, and the values that replace them.
 *
 * Git takes the last value of a key, and the command line comes last. A key without a value here has no effect on the
 * verbs we use. Keys that `fixed-options.ts` closes on every start are not listed again.
 *
 * Undefined: git cannot be made to ignore the key. `-c` ends the key at the first `=`.
 */
function overrideOf(key: string): OverriddenKey | undefined {
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
