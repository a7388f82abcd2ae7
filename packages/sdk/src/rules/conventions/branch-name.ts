/** Branch names of the form `type/short-kebab`, and the nearest such name to what somebody wrote. */
import { CHANGE_TYPES, nearestType, typeMeant } from './change-types.ts';

const STANDING = ['main', 'master', 'trunk', 'develop', 'dev', 'staging', 'production', 'next', 'gh-pages'];
const TYPES = [...CHANGE_TYPES, 'feature', 'bugfix', 'hotfix', 'release', 'support', 'experiment'];
/** Lower case with dashes; a key of an issue tracker may lead. */
const PART = '(?:[A-Z][A-Z0-9]*-[0-9]+|[a-z0-9]+)(?:[-._][a-z0-9]+)*';
const BRANCH_NAME = new RegExp(`^(?:${STANDING.join('|')}|(?:${TYPES.join('|')})(?:/${PART})+)$`);

export const BRANCH_FORM = 'type/short-words, such as feat/login-page, fix/crash-on-start or release/1.2';

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
