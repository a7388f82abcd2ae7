/** What the reader of a failed command should know and its output does not say. */
import type { ErrorEntry } from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';
import { findOutside } from './program-place.ts';

export interface EndedCommand {
  /** Null when it was stopped or a signal ended it. */
  readonly code: number | null;
  /** Its time was over, or its caller gave up. */
  readonly wasStopped: boolean;
  /** It had no network, and the sandbox saw to that. */
  readonly isOffline: boolean;
  readonly printed: readonly string[];
}

/** What resolvers, connections and package managers say without a network. */
const NO_NETWORK =
  /\b(?:EAI_AGAIN|ENOTFOUND|ENETUNREACH|EHOSTUNREACH|ENETDOWN|ENOTCACHED|ERR_PNPM_NO_OFFLINE_\w+)\b|could not resolve|temporary failure in name resolution|name or service not known|network is unreachable|no matching distribution found|failed to (?:download|fetch)|offline mode|--offline|GOPROXY=off|network access is disabled|network connectivity is disabled|requests can't be made/i;

/** Git's words where it cannot write into a repository that is mounted read-only. */
const READ_ONLY_GIT = /\.git\b.*: Read-only file system/i;
const MISSING_PROGRAM = /(?:^|[\s:])([A-Za-z0-9_][\w.+-]{0,60}): (?:command )?not found\s*$/gm;
const MAX_PROGRAMS = 3;
/** Messages of interest stand at the end. */
const LOOKED_AT = 64 * 1024;

export function outcomeHints(ended: EndedCommand): readonly ErrorEntry[] {
  if (ended.code === 0) return [];
  const printed = ended.printed.map((text) => text.slice(-LOOKED_AT));
  return [...networkHint(ended, printed), ...gitHint(printed), ...programHints(printed)];
}

function networkHint({ wasStopped, isOffline }: EndedCommand, printed: readonly string[]): readonly ErrorEntry[] {
  if (!isOffline || !(wasStopped || printed.some((text) => NO_NETWORK.test(text)))) return [];
  return [
    {
      code: 'E_SHELL',
      message: wasStopped
        ? 'Command had no network, in case it waited for one'
        : 'Command had no network, which is what it seems to have missed',
      details: {
        reason: 'network_off',
        next: 'call again with allow_network: true; the registry lists the hosts in network.allowed_domains',
      },
    },
  ];
}

function gitHint(printed: readonly string[]): readonly ErrorEntry[] {
  if (!printed.some((text) => READ_ONLY_GIT.test(text))) return [];
  return [
    {
      code: 'E_SHELL',
      message: 'Commands cannot change the repository: .git is read-only in the sandbox',
      details: {
        reason: 'git_read_only',
        next: 'use the git tools: git_add, git_commit, git_restore, git_checkout, git_merge, git_stash and others (tool_search finds them)',
      },
    },
  ];
}

/** A shell inside the sandbox only knows that it does not see a program. */
function programHints(printed: readonly string[]): readonly ErrorEntry[] {
  const names = printed.flatMap((text) => [...text.matchAll(MISSING_PROGRAM)].map((match) => match[1] ?? ''));
  return [...new Set(names)].slice(0, MAX_PROGRAMS).flatMap((name): ErrorEntry[] => {
    const outside = findOutside(name);
    if (outside === undefined) return [];
    const message = `Program is outside the sandbox: ${name} (found at ${safeText(outside.found, 200)})`;
    return [{ code: 'E_SHELL', message, details: { reason: 'outside_sandbox', next: outside.next } }];
  });
}
