/** A verb git itself did not carry out: its own words, and the files that are in question where we know them. */
import type { ToolError } from '@tool-runtime/protocol';
import type { GitOutput } from '../../../contracts/git.ts';
import { gitFailure } from '../../../git/git-failure.ts';
import { toShown } from '../recovery/raw-path.ts';
import type { SavedRecovery } from '../recovery/save-recovery.ts';

export interface Refusal {
  /** Begins the message: "Git did not …". */
  readonly what: string;
  readonly next: string;
  readonly path?: string;
}

export function gitRefused({ what, next, path }: Refusal, output: GitOutput, saved: SavedRecovery): ToolError {
  const said = output.stderr.trim();
  const paths = changedAndTouched(saved);
  return gitFailure(`${what}: ${firstComplaint(said)}`, {
    ...(path === undefined ? {} : { path }),
    reason: paths.length > 0 ? 'would_overwrite' : 'git_failed',
    next: paths.length > 0 ? 'commit the changed files, or put them aside with git_stash' : next,
    details: {
      exit_code: output.code,
      stderr: said.slice(0, 2000),
      recovery: saved.ref,
      ...(paths.length > 0 ? { paths } : {}),
    },
  });
}

const SHOWN = 20;

/** Git refuses to write over what is not committed. */
function changedAndTouched({ dirty, touched }: SavedRecovery): readonly string[] {
  const changing = new Set(touched.map(({ path }) => path));
  return dirty.entries
    .filter(({ path }) => changing.has(path))
    .slice(0, SHOWN)
    .map(({ path }) => toShown(path));
}

export function firstComplaint(said: string): string {
  const lines = said.split('\n');
  const line = lines.find((text) => /^(?:fatal|error): /.test(text)) ?? lines[0] ?? '';
  return line.replace(/^(?:fatal|error): /, '').slice(0, 300) || 'no reason given';
}
