/** What stands in the way of a branch, with the way around it. */
import type { ToolError } from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';
import { gitFailure } from '../../../git/git-failure.ts';

export function missingArgument(action: string, argument: string): ToolError {
  return gitFailure(`Branch ${action} needs an argument: ${argument}`, {
    path: argument,
    reason: 'missing_argument',
    next: `give ${argument}`,
  });
}

export function branchExists(name: string, argument: string): ToolError {
  return gitFailure(`Branch exists already: ${safeText(name, 120)}`, {
    path: argument,
    reason: 'exists',
    next: 'choose another name, or pass force: true to replace it',
  });
}

export function unknownBranch(name: string, argument: string): ToolError {
  return gitFailure(`Branch not found: ${safeText(name, 120)}`, {
    path: argument,
    reason: 'unknown_branch',
    next: 'git_branch with action list shows what there is; git_fetch brings branches of a remote',
  });
}

export function branchCheckedOut(name: string, next: string): ToolError {
  return gitFailure(`Branch is checked out: ${safeText(name, 120)}`, { path: 'name', reason: 'checked_out', next });
}

export function branchNotMerged(name: string, hash: string): ToolError {
  return gitFailure(`Branch is not merged: ${safeText(name, 120)}`, {
    path: 'name',
    reason: 'not_merged',
    next: 'merge it first, or pass force: true to delete it with its commits',
    details: { hash },
  });
}
