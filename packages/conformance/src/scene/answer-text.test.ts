import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerText } from './answer-text.ts';

const content = (...texts: string[]) => ({ result: { content: texts.map((text) => ({ type: 'text', text })) } });

test('takes the text where the protocol has it', () => {
  assert.equal(answerText(content('one', 'two'), undefined), 'one\ntwo');
  assert.equal(answerText({ error: { code: -1, message: 'refused' } }, undefined), 'refused');
  assert.equal(answerText({ type: 'ToolResponse', data: { a: 1 }, errors: [] }, undefined), '{"a":1}');
});

test('takes the text where the profile says, also inside a text that is JSON', () => {
  assert.equal(answerText({ type: 'ToolResponse', data: { content: 'a\tb' } }, 'data.content'), 'a\tb');
  assert.equal(answerText(content('{"content": "a\\tb"}'), 'content.*.text.content'), 'a\tb');
});

test('takes the whole answer where the place is empty', () => {
  assert.equal(answerText(content('plain'), 'structuredContent.content'), JSON.stringify(content('plain')));
});
