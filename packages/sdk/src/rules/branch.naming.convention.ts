/**
 * branch.naming.convention: a new branch has a name of the registry's pattern, or of the usual form where it sets none.
 *
 * Existing branches are left alone, whatever they are called.
 */
import { safeText } from '@tool-runtime/protocol/internal';
import type { CompiledPattern } from '../contracts/registry.ts';
import { defineRule } from '../contracts/rule.ts';
import { BRANCH_FORM, isBranchName, suggestBranchName } from './conventions/branch-name.ts';
import { CHANGE_TYPES } from './conventions/change-types.ts';

export const branchNamingConvention = defineRule({
  id: 'branch.naming.convention',
  category: 'Git',
  description: 'New branches follow the naming pattern',
  phase: 'before',
  trigger: 'checkout',
  defaultEnforcement: 'warning',
  appliesTo: ({ git }) => git?.newBranch !== undefined,
  check({ git }, { registry: { branchPattern } }) {
    const name = git?.newBranch ?? '';
    const isGood = branchPattern === undefined ? isBranchName(name) : branchPattern.test(name);
    if (isGood) return [];
    const suggestion = branchPattern === undefined ? suggestBranchName(name) : nearestMatch(name, branchPattern);
    const form = branchPattern === undefined ? BRANCH_FORM : `names that match ${branchPattern.source}`;
    return [
      {
        message: `Branch name does not follow the convention: ${safeText(name)}`,
        next: suggestion === undefined ? `take ${form}` : `call it ${suggestion}`,
        details: { form, ...(suggestion === undefined ? {} : { suggestion }) },
      },
    ];
  },
});

/** A pattern cannot be asked what it would accept: likely names are tried. */
function nearestMatch(name: string, pattern: CompiledPattern): string | undefined {
  const usual = suggestBranchName(name);
  const words = usual.slice(usual.indexOf('/') + 1);
  const types = ['feature', 'bugfix', 'hotfix', ...CHANGE_TYPES];
  return [usual, words, name.toLowerCase(), ...types.map((type) => `${type}/${words}`)].find((candidate) =>
    pattern.test(candidate),
  );
}
