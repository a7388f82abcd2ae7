import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fitBlock, trimBlock } from './fit-block.ts';
import { readStyle } from './text-style.ts';

const spaces = { newline: '\n', indent: '  ' } as const;
const none = new Set<number>();
const fit = (text: string, indent: string, style: { newline: '\n' | '\r\n'; indent: string } = spaces, frozen = none) =>
  fitBlock(trimBlock(text), { indent, style, frozen });

describe('a block of new text', () => {
  test('loses the indentation it came with and gets that of its place', () => {
    assert.equal(fit('    a {\n      b\n    }\n', '  '), 'a {\n    b\n  }');
    assert.equal(fit('\n\na {\n  b\n}\n\n', '    '), 'a {\n      b\n    }');
  });

  test('is understood when only its first line was cut free', () => {
    assert.equal(fit('a {\n      b\n    }', '  '), 'a {\n    b\n  }');
    assert.equal(
      fit('def a():\n        return 1', '    ', { newline: '\n', indent: '    ' }),
      'def a():\n        return 1',
    );
    assert.equal(fit('x = 1\n    y = 2', ''), 'x = 1\ny = 2');
  });

  test('takes the line ends and the tabs of the file', () => {
    assert.equal(fit('a {\n  b\n\n  c\n}', '', { newline: '\r\n', indent: '  ' }), 'a {\r\n  b\r\n\r\n  c\r\n}');
    assert.equal(
      fit('a {\n    b {\n        c\n    }\n}', '\t', { newline: '\n', indent: '\t' }),
      'a {\n\t\tb {\n\t\t\tc\n\t\t}\n\t}',
    );
    assert.equal(fit('a {\n\tb\n}', '', spaces), 'a {\n  b\n}');
  });

  test('keeps lines that begin inside of a string', () => {
    assert.equal(fit('a(`x\n y`)\nb', '    ', spaces, new Set([1])), 'a(`x\n y`)\n    b');
  });
});

describe('the habits of a file', () => {
  test('are read off its lines', () => {
    assert.deepEqual(readStyle('a {\r\n\tb\r\n}\r\n', '  '), { newline: '\r\n', indent: '\t' });
    assert.deepEqual(readStyle('a:\n    b\n    c:\n        d\n', '  '), { newline: '\n', indent: '    ' });
    assert.deepEqual(readStyle('a {\n  b {\n    c\n  }\n}\n', '\t'), { newline: '\n', indent: '  ' });
  });

  test('fall back to those of the language', () => {
    assert.deepEqual(readStyle('', '\t'), { newline: '\n', indent: '\t' });
    assert.deepEqual(readStyle('/**\n * a\n */\n', '    '), { newline: '\n', indent: '    ' });
  });
});
