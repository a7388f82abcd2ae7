import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { has, parseFilter, toggleIn } from './filter.ts';

describe('the line of a filter', () => {
  test('is keys with values, and words', () => {
    assert.deepEqual(parseFilter('tool:grep,file_read decision:deny some words'), {
      tool: 'grep,file_read',
      decision: 'deny',
      text: 'some words',
    });
    assert.deepEqual(parseFilter('tool:grep tool:curl client:"my agent"'), { tool: 'grep,curl', client: 'my agent' });
  });

  test('takes what is no key for words', () => {
    assert.deepEqual(parseFilter('http://a.example tool'), { text: 'http://a.example tool' });
    assert.deepEqual(parseFilter(''), {});
  });

  test('gets a value added and taken out again', () => {
    const line = toggleIn('words', 'tool', 'grep');
    assert.equal(line, 'tool:grep words');
    assert.equal(has(line, 'tool', 'grep'), true);
    assert.equal(toggleIn(toggleIn(line, 'tool', 'curl'), 'tool', 'grep'), 'tool:curl words');
    assert.equal(toggleIn(line, 'tool', 'grep'), 'words');
    assert.equal(has(toggleIn('', 'client', 'my agent'), 'client', 'my agent'), true);
  });
});
