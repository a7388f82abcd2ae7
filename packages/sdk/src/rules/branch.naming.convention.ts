/**
 * branch.naming.convention: a new branch has a name of the registry's pattern, or of the usual form where it sets none.
 *
 * Existing branches are left alone, whatever they are called.
 */
import { safeText } from '@tool-runtime/protocol/internal';
import type { CompiledPattern } from '../contracts/registry.ts';
import { defineRule } from '../contracts/rule.ts';
import { CHANGE_TYPES, nearestType, typeMeant } from './change-types.ts';

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

const STANDING = ['main', 'master', 'trunk', 'develop', 'dev', 'staging', 'production', 'next', 'gh-pages'];
const TYPES = [...CHANGE_TYPES, 'feature', 'bugfix', 'hotfix', 'release', 'support', 'experiment'];
/** Lower case with dashes; a key of an issue tracker may lead. */
const PART = '(?:[A-Z][A-Z0-9]*-[0-9]+|[a-z0-9]+)(?:[-._][a-z0-9]+)*';
const BRANCH_NAME = new RegExp(`^(?:${STANDING.join('|')}|(?:${TYPES.join('|')})(?:/${PART})+)$`);

const BRANCH_FORM = 'type/short-words, such as feat/login-page, fix/crash-on-start or release/1.2';

/** Branch names of the form `type/short-kebab`, and the nearest such name to the given one. */
export function isBranchName(name: string): boolean {
  return BRANCH_NAME.test(name);
}

/** Always one that `isBranchName` accepts. */
export function suggestBranchName(name: string): string {
  const [first = '', ...others] = name.split('/').filter((part) => part !== '');
  if (others.length > 0) {
    const type = TYPES.find((known) => known === first.toLowerCase()) ?? nearestType(first);
    return type === undefined ? join('feat', [first, ...others]) : join(type, others);
  }
  const words = kebab(first);
  if (STANDING.includes(words)) return words;
  const dash = words.indexOf('-');
  const type = TYPES.find((known) => known === words.slice(0, Math.max(dash, 0)));
  if (type !== undefined) return join(type, [words.slice(dash + 1)]);
  return join(typeMeant(dash < 0 ? words : words.slice(0, dash)) ?? 'feat', [words]);
}

function join(type: string, parts: readonly string[]): string {
  const clean = parts.map(kebab).filter((part) => part !== '');
  return [type, ...(clean.length === 0 ? ['change'] : clean)].join('/');
}

const ISSUE_KEY = /^[A-Z][A-Z0-9]*-[0-9]+(?![A-Za-z0-9])/;

function kebab(text: string): string {
  const key = ISSUE_KEY.exec(text)?.[0] ?? '';
  const rest = text
    .slice(key.length)
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replace(/[^a-z0-9.]+/g, '-')
    .replace(/[-.]*([-.])[-.]*/g, '$1')
    .replace(/^[-.]+|[-.]+$/g, '');
  return key === '' || rest === '' ? `${key}${rest}` : `${key}-${rest}`;
}
