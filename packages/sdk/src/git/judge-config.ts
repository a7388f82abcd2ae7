/** Decides about every key of a repository's configuration before git is let near it. */
import { policyDenial } from '../contracts/failures.ts';
import { HARMLESS_CONFIG } from './harmless-config.ts';
import type { ConfigEntry } from './parse-config.ts';

/** Keys that are harmless with these values although others would start something. */
const HARMLESS_VALUES: readonly { readonly key: RegExp; readonly value: RegExp }[] = [
  { key: /^core\.fsmonitor$/, value: /^(?:false|no|off|0|)$/i },
  { key: /^core\.hookspath$/, value: /^(?:|\/dev\/null|\.git\/hooks\/?)$/ },
  { key: /^core\.(?:pager|askpass|gitproxy)$/, value: /^$/ },
  { key: /^credential\.helper$/, value: /^$/ },
  { key: /^submodule\..*\.update$/s, value: /^(?:checkout|rebase|merge|none)$/ },
  { key: /^protocol\..*allow$/s, value: /^(?:never|user)$/ },
  { key: /^http\.(?:postbuffer|lowspeedlimit|lowspeedtime|version|maxrequests)$/, value: /^/ },
];

const WHY: readonly { readonly key: RegExp; readonly why: string }[] = [
  { key: /^filter\./, why: 'runs a program on the content of files' },
  { key: /^(?:diff|merge)\..*\.(?:command|textconv|driver)$/s, why: 'runs a program on the content of files' },
  { key: /^diff\.external$/, why: 'runs a program on the content of files' },
  { key: /^core\.hookspath$/, why: 'runs programs at every step' },
  { key: /^core\.fsmonitor$/, why: 'runs a program on every look at the work tree' },
  { key: /^core\.worktree$/, why: 'puts the work tree somewhere else' },
  { key: /^include(?:if)?\./, why: 'brings in configuration from elsewhere' },
  { key: /^url\./, why: 'redirects remotes' },
  { key: /^http\./, why: 'changes how remotes are reached' },
  { key: /^remote\..*\.(?:uploadpack|receivepack|vcs)$/s, why: 'runs a program to reach the remote' },
];

/** Throws E_POLICY for the first key that is neither harmless nor listed by the operator. */
export function judgeConfig(entries: readonly ConfigEntry[], listed: readonly string[], registryAt?: string): void {
  for (const { key, value } of entries) {
    if (isHarmless(key, value) || isListed(key, listed)) continue;
    const why = WHY.find((known) => known.key.test(key))?.why ?? 'may run programs or reach elsewhere';
    throw policyDenial(`Repository configuration is not allowed, it ${why}: ${shownKey(key)}`, {
      path: shownKey(key),
      details: {
        gate: 'git_config',
        reason: 'repository_config',
        key: shownKey(key),
        ...(registryAt === undefined ? {} : { registry: registryAt }),
        next: `remove the key (git config --unset-all ${shownKey(key)}), or have the operator list it in git.allow_config`,
      },
    });
  }
}

function isHarmless(key: string, value: string): boolean {
  if (HARMLESS_VALUES.some((rule) => rule.key.test(key) && rule.value.test(value))) return true;
  return PLAIN.has(key) || FAMILIES.some((family) => family.test(key));
}

const PLAIN = new Set(HARMLESS_CONFIG.filter((key) => !key.includes('*')));
const FAMILIES = HARMLESS_CONFIG.filter((key) => key.includes('*')).map(keyPattern);

/** Whether a registry's list of keys covers one; `filter.lfs.*` covers all of the section. Case does not matter. */
export function isListed(key: string, listed: readonly string[]): boolean {
  return listed.some((pattern) => keyPattern(pattern.toLowerCase()).test(key.toLowerCase()));
}

function keyPattern(pattern: string): RegExp {
  const source = pattern.split('*').map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'));
  return new RegExp(`^${source.join('.*')}$`, 's');
}

/** Keys hold a subsection that is free text. */
function shownKey(key: string): string {
  return key.replace(/[\x00-\x1f\x7f]/g, '?').slice(0, 120);
}
