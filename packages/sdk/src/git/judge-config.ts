/** Checks every key of a repository's configuration before git runs in it, and finds what git must be told to ignore. */
import { safeText } from '@tool-runtime/protocol/internal';
import { policyDenial } from '../contracts/failures.ts';
import { CLOSED_KEYS, NEUTRAL_KEYS } from './fixed-options.ts';
import { HARMFUL_CONFIG, HARMLESS_CONFIG } from './harmless-config.ts';
import { type OverriddenKey, overrideOf } from './overridden-config.ts';
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
