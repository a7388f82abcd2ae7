/** commit.message.conventional: the message of a commit begins as Conventional Commits say. */
import { safeText } from '@tool-runtime/protocol/internal';
import { defineRule } from '../contracts/rule.ts';
import { CHANGE_TYPES } from './conventions/change-types.ts';
import { judgeMessage } from './conventions/conventional-header.ts';

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
