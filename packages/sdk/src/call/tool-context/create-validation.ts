/** Rules on request, bound to one call. */
import { isToolError, ToolError } from '@tool-runtime/protocol';
import type { CommitCandidate } from '../../contracts/git.ts';
import type { Validation, ValidationReport, ValidationRequest } from '../../contracts/rule.ts';
import { buildChangeSet } from '../../validation/change-set.ts';
import { runValidation } from '../../validation/run-validation.ts';
import { freezeCandidate } from '../../validation/settle-push.ts';
import type { OpenCall } from '../state/call-types.ts';
import { endingWith } from '../state/git-view.ts';
import { CallRuleContext } from '../state/run-rules.ts';
import type { SessionParts } from '../state/session-parts.ts';

export function createValidation(open: OpenCall, parts: SessionParts): Validation {
  async function judge(request: ValidationRequest, candidate: CommitCandidate | undefined): Promise<ValidationReport> {
    const { scope, since, message, signal } = request;
    const source = { git: endingWith(parts.programs.git, open.signal), workspace: parts.readOnlyWorkspace, signal };
    const changes = await buildChangeSet({ scope, since, message, candidate }, source);
    return runValidation(request, changes, {
      rules: parts.rules,
      hasAst: parts.ast !== undefined,
      context: (narrowed) => new CallRuleContext(open, parts, () => Promise.resolve(narrowed)),
    });
  }
  async function ofCommits(request: ValidationRequest): Promise<ValidationReport> {
    const { git } = parts.programs;
    if (request.scope !== 'staged') return judge(request, undefined);
    const candidate = await freezeCandidate(git, request.signal, request.index);
    try {
      return await judge(request, candidate);
    } finally {
      await candidate.index.discard();
    }
  }
  return {
    run: (request) =>
      request.scope === 'worktree' ? judge(request, undefined) : ofRepository(() => ofCommits(request)),
  };
}

/** Only the files themselves can be judged without a repository, and the refusal says so. */
async function ofRepository<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (thrown) {
    if (!isToolError(thrown) || thrown.details['reason'] !== 'no_repository') throw thrown;
    throw new ToolError(thrown.code, thrown.message, {
      details: { ...thrown.details, next: 'use scope worktree, which needs no repository, or git init the workspace' },
      cause: thrown,
    });
  }
}
