/** An approval as a form. Only a clear yes counts: declining, closing the form or an unknown word is a no. */
import type { ApprovalAnswer, JsonObject, JsonValue } from '@tool-runtime/protocol';
import type { Answers, Questions } from './client-questions.ts';

const KEY = 'approval';

const WORDS: Readonly<Record<string, ApprovalAnswer['answer']>> = {
  allow: 'approved',
  allow_for_session: 'approved_for_session',
  deny: 'denied',
};

export function approvalQuestion(data: JsonObject): Questions {
  return {
    [KEY]: {
      method: 'elicitation/create',
      params: {
        mode: 'form',
        message: `Allow ${text(data['tool'])}? ${text(data['summary']).slice(0, 2000)} (${text(data['reason'])})`,
        requestedSchema: {
          type: 'object',
          properties: {
            decision: {
              type: 'string',
              title: 'Decision',
              enum: Object.keys(WORDS),
              enumNames: ['Allow once', 'Allow for this session', 'Deny'],
            },
            reason: { type: 'string', title: 'Reason', description: 'Told to the caller', maxLength: 500 },
          },
          required: ['decision'],
        },
      },
    },
  };
}

export function approvalAnswer(answers: Answers): Pick<ApprovalAnswer, 'answer' | 'reason'> {
  const answer = answers[KEY] ?? {};
  const content = answer['action'] === 'accept' ? (answer['content'] as JsonObject | undefined) : undefined;
  const word = WORDS[text(content?.['decision'])];
  if (word === undefined)
    return { answer: 'denied', reason: `the client answered: ${text(answer['action']) || 'nothing'}` };
  const reason = content?.['reason'];
  return { answer: word, ...(typeof reason === 'string' && reason !== '' ? { reason: reason.slice(0, 500) } : {}) };
}

function text(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
