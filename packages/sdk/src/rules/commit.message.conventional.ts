/** commit.message.conventional: the message of a commit begins as Conventional Commits say. */
import { safeText } from '@tool-runtime/protocol/internal';
import { defineRule } from '../contracts/rule.ts';
import { CHANGE_TYPES, nearestType, typeMeant } from './change-types.ts';

export const commitMessageConventional = defineRule({
  id: 'commit.message.conventional',
  category: 'Git',
  description: 'The message follows Conventional Commits',
  phase: 'before',
  trigger: 'commit',
  defaultEnforcement: 'warning',
  onRequest: true,
  appliesTo: ({ git }) => git?.verb === 'commit' && git.message !== undefined,
  check({ git }) {
    const found = judgeMessage(git?.message ?? '');
    if (found === undefined) return [];
    const { problem, header, suggestion } = found;
    return [
      {
        message: `${problem}: ${safeText(header)}`,
        next: suggestion === header ? 'leave the second line empty' : `write: ${safeText(suggestion)}`,
        details: { suggestion, form: `type(scope): description, with one of ${CHANGE_TYPES.join(', ')}` },
      },
    ];
  },
});

const HEADER = new RegExp(`^(?:${CHANGE_TYPES.join('|')})(?:\\([^()\\s][^()]*\\))?!?: \\S`);
/** Anything that was meant to be one: `Feat : x`, `[fix] x`, `feature(ui) - x`. Blanks are single, or it could take long. */
const ATTEMPT = /^[[(]? ?([A-Za-z][\w-]*) ?[\])]? ?(?:\(([^()]*)\))? ?(!?) ?(?::|-(?= )|(?<=\])) ?(\S.*)$/;
/** What git writes by itself, and what is going to be folded into another commit. */
const EXEMPT = /^(?:Merge\b|Merged\b|Auto-merged\b|Revert "|Reapply "|(?:fixup|squash|amend)! )/;

interface MessageProblem {
  readonly problem: string;
  readonly header: string;
  /** What the first line should be. */
  readonly suggestion: string;
}

/**
 * The first line of a commit message by Conventional Commits 1.0: `type(scope)!: description`.
 *
 * Stricter than its text in one point, as most linters are: types are the usual eleven, in lower case.
 */
export function judgeMessage(message: string): MessageProblem | undefined {
  const [header = '', second = ''] = message.trim().split(/\r?\n/, 2);
  if (header === '' || EXEMPT.test(header)) return undefined;
  const suggestion = suggestHeader(header);
  if (!HEADER.test(header)) return { problem: 'Commit message is not conventional', header, suggestion };
  return second.trim() === ''
    ? undefined
    : { problem: 'Commit message has no empty line below its first', header, suggestion };
}

export function isConventionalHeader(header: string): boolean {
  return HEADER.test(header);
}

/** The nearest header that is conventional, for any text with something in it. */
export function suggestHeader(header: string): string {
  const text = header.trim().replace(/\s+/g, ' ');
  if (HEADER.test(text)) return text;
  const attempt = ATTEMPT.exec(text);
  const type = attempt?.[1] === undefined ? undefined : nearestType(attempt[1]);
  if (attempt !== null && type !== undefined) {
    const [, , scope = '', breaking = '', description = ''] = attempt;
    return `${type}${scope.trim() === '' ? '' : `(${scope.trim()})`}${breaking}: ${description}`;
  }
  const words = text.replace(/^[^\p{L}\p{N}]+/u, '') || text;
  return `${guessType(words)}: ${words}`;
}

/** The first words of a sentence tell best what it is about. */
function guessType(sentence: string): string {
  for (const word of sentence.split(/[^\p{L}\p{N}]+/u, 3)) {
    const type = typeMeant(word);
    if (type !== undefined) return type;
  }
  return 'chore';
}
