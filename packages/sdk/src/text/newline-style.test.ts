import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newlineStyle } from './newline-style.ts';

test('S0-30 the style of the line ends is told, and mixtures are called so', () => {
  const table: Record<string, readonly string[]> = {
    none: ['', 'a'],
    lf: ['\n', 'a\nb'],
    crlf: ['\r\n', 'a\r\nb\r\n'],
    cr: ['\r', 'a\rb'],
    mixed: ['\r\n\n', '\n\r\n', 'a\rb\n', '\r\r\n', '\n\r', 'a\rb\r\nc\n'],
  };
  for (const [style, texts] of Object.entries(table)) {
    for (const text of texts) assert.equal(newlineStyle(text), style, JSON.stringify(text));
  }
});
