import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ElicitRequest, InputRequiredResult } from '@modelcontextprotocol/client';
import type { AskClient } from '@tool-runtime/sdk';
import { answerElicitation, answerInputs } from './mid-call-questions.ts';

const accept = { action: 'accept', content: { name: 'Ada' } };
const yes: AskClient = async (questions) => Object.fromEntries(Object.keys(questions).map((name) => [name, accept]));

function inputs(count: number, method = 'elicitation/create'): InputRequiredResult {
  const requests = Array.from({ length: count }, (_, at) => [`q${at}`, { method, params: { message: 'who?' } }]);
  return { inputRequests: Object.fromEntries(requests) } as unknown as InputRequiredResult;
}

function elicitation(): ElicitRequest {
  return { method: 'elicitation/create', params: { message: 'who?' } } as unknown as ElicitRequest;
}

describe('questions in the middle of a call', () => {
  test('are answered by the caller, up to eight at once', async () => {
    assert.deepEqual(await answerInputs(inputs(1), yes), { q0: accept });
    assert.equal(Object.keys((await answerInputs(inputs(8), yes)) ?? {}).length, 8);
    assert.equal(await answerInputs(inputs(9), yes), undefined);
  });

  test('of another kind than a form are not put to the caller', async () => {
    assert.equal(await answerInputs(inputs(1, 'sampling/createMessage'), yes), undefined);
    assert.equal(await answerInputs(inputs(1, 'roots/list'), yes), undefined);
  });

  test('that are not answered are declined', async () => {
    const broken: AskClient = () => Promise.reject(new RangeError('gone'));
    for (const ask of [undefined, broken]) {
      assert.deepEqual(await answerInputs(inputs(1), ask), { q0: { action: 'decline' } });
      assert.deepEqual(await answerElicitation(elicitation(), ask), { action: 'decline' });
    }
  });

  test('have an answer only where it is one: yes or cancel as they came, all else is no', async () => {
    const saying =
      (answer: object): AskClient =>
      async () =>
        ({ question: answer }) as Awaited<ReturnType<AskClient>>;
    assert.deepEqual(await answerElicitation(elicitation(), saying(accept)), accept);
    assert.deepEqual(await answerElicitation(elicitation(), saying({ action: 'cancel' })), { action: 'cancel' });
    for (const other of [{}, { action: 'ACCEPT', content: {} }, { content: { name: 'Ada' } }]) {
      assert.deepEqual(await answerElicitation(elicitation(), saying(other)), { action: 'decline' });
    }
  });
});
