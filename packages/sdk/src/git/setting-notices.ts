/** One warning per session about settings of its repository that git is told to ignore. */
import type { ErrorEntry } from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';
import type { OverriddenKey } from './overridden-config.ts';

export interface SettingNotices {
  /** Keys that were reported before are left out. */
  add(overridden: readonly OverriddenKey[]): void;
  take(): readonly ErrorEntry[];
}

const NAMED = 10;
const MAX_SHOWN = 50;

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
