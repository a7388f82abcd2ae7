/** Rules on request, bound to one call. */
import type { CommitCandidate } from '../../contracts/git.ts';
import type { Validation, ValidationReport, ValidationRequest } from '../../contracts/rule.ts';
import { buildChangeSet } from '../../validation/change-set.ts';
import { runValidation } from '../../validation/run-validation.ts';
import { discardCandidate, freezeCandidate } from '../../validation/settle-push.ts';
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
  return {
    async run(request) {
      const { git } = parts.programs;
      if (request.scope !== 'staged') return judge(request, undefined);
      const candidate = await freezeCandidate(git, request.signal, request.index);
      try {
        return await judge(request, candidate);
      } finally {
        await discardCandidate(git, candidate);
      }
    },
  };
}
