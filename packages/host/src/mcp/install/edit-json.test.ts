import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { setJsonMember } from './edit-json.ts';
import { parseJsonTree, valueOfNode } from './json-tree.ts';

const ENTRY = { command: 'node', args: ['mcp'] };
const PATH = ['mcpServers', 'tool-runtime'];

function meaning(text: string): unknown {
  const root = parseJsonTree(text);
  return root === undefined ? {} : valueOfNode(root);
}

describe('setting a member of a JSON file', () => {
  test('writes a whole file where there is none, or nothing in it', () => {
    const whole = `{
  "mcpServers": {
    "tool-runtime": {
      "command": "node",
      "args": [
        "mcp"
      ]
    }
  }
}
`;
    assert.equal(setJsonMember('', PATH, ENTRY), whole);
    assert.equal(setJsonMember('// mine', PATH, ENTRY), `// mine\n${whole}`);
    assert.equal(setJsonMember('{}', PATH, ENTRY), whole.trimEnd());
    assert.equal(setJsonMember('{\n}\n', PATH, ENTRY), whole);
  });

  test('leaves comments, order, trailing commas and other servers as they are', () => {
    const before = `// settings
{
\t/* theme */ "theme": "dark", // night
\t"mcpServers": {
\t\t"other": { "command": "x" }, // keep, "me": {
\t\t// last words
\t},
\t"url": "http://x//y",
}
`;
    const after = `// settings
{
\t/* theme */ "theme": "dark", // night
\t"mcpServers": {
\t\t"other": { "command": "x" }, // keep, "me": {
\t\t// last words
\t\t"tool-runtime": "on",
\t},
\t"url": "http://x//y",
}
`;
    assert.equal(setJsonMember(before, PATH, 'on'), after);
  });

  test('puts the comma behind the value and not behind its comment', () => {
    const before = '{\n  "a": 1 // one\n}\n';
    assert.equal(setJsonMember(before, ['b'], 2), '{\n  "a": 1, // one\n  "b": 2\n}\n');
    assert.equal(setJsonMember('{ "a": 1 }', ['b'], [2]), '{ "a": 1, "b": [2] }');
    assert.equal(setJsonMember('{ "a": 1, }', ['b'], 2), '{ "a": 1, "b": 2 }');
    assert.equal(setJsonMember('{ "a": 1,\n  "c": 2 }', ['b'], 2), '{ "a": 1,\n  "c": 2,\n  "b": 2\n}');
  });

  test('keeps the byte order mark and carriage returns', () => {
    const before = '\uFEFF{\r\n    "a": {\r\n    }\r\n}\r\n';
    const after = setJsonMember(before, ['a', 'b'], { c: 1 });
    assert.equal(after, '\uFEFF{\r\n    "a": {\r\n        "b": {\r\n            "c": 1\r\n        }\r\n    }\r\n}\r\n');
  });

  test('exchanges an entry of the same name and nothing else', () => {
    const before = '{\n  "mcpServers": {\n    "tool-runtime": {"command": "old"}, // mine\n    "b": 1\n  }\n}\n';
    const after = '{\n  "mcpServers": {\n    "tool-runtime": "new", // mine\n    "b": 1\n  }\n}\n';
    assert.equal(setJsonMember(before, PATH, 'new'), after);
    assert.equal(setJsonMember(after, PATH, 'new'), after);
  });

  test('refuses what does not parse, and what has no place for it, and says where', () => {
    for (const [text, problem] of [
      ['{"a": 1,,}', /1:9/],
      ['{"a": 1} x', /1:10/],
      ["{'a': 1}", /1:2/],
      ['{a: 1}', /1:2/],
      ['{"a": 01}', /1:7/],
      ['{"a": 1 "b": 2}', /1:9/],
      ['{"a": "x\ny"}', /1:7/],
      ['/* open', /1:1/],
      ['{"a": 1, "a": 2}', /1:10.*key occurs twice: a/],
      ['[]', /the file holds no object/],
      ['{"mcpServers": null}', /1:16: mcpServers is no object/],
      ['{"mcpServers": []}', /mcpServers is no object/],
      [`${'['.repeat(300)}`, /nested deeper/],
    ] as const) {
      assert.throws(() => setJsonMember(text, PATH, 1), problem, text);
    }
  });

  test('a key named __proto__ is a key like any other', () => {
    const before = '{"__proto__": {"x": 1}}';
    assert.deepEqual(Object.keys(meaning(setJsonMember(before, ['b'], 2)) as object), ['__proto__', 'b']);
  });

  test('whatever the file, it parses afterwards and every other key has the same value', () => {
    fc.assert(
      fc.property(file, fc.constantFrom(['mcpServers', 'x'], ['a', 'b'], ['n']), (text, path) => {
        const before = meaning(text) as Record<string, unknown>;
        let after: string;
        try {
          after = setJsonMember(text, path, ENTRY);
        } catch (thrown) {
          assert.match(String(thrown), /No place for the entry/);
          return;
        }
        const [section = '', name] = path;
        const expected = name === undefined ? ENTRY : { ...(before[section] as object), [name]: ENTRY };
        assert.deepEqual(meaning(after), { ...before, [section]: expected });
        assert.equal(setJsonMember(after, path, ENTRY), after);
      }),
      { numRuns: 2000 },
    );
  });
});

const gap = fc.constantFrom('', ' ', '\n', '\t', '\r\n', ' // c "x": {\n', '/* } , */', '\n  // , ]\n  ');
const key = fc.constantFrom('mcpServers', 'x', 'a', 'b', 'n', '__proto__', 'k\u00e9"');

const { value } = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('1', '-2.5e3', 'true', 'null', '"s // no"', '"\\u00e9\\n"', '[]', '[ 1, {"q": [2,],}, ]'),
    tie('object'),
  ),
  object: fc
    .tuple(
      fc.uniqueArray(fc.tuple(key, tie('value'), gap, gap), { maxLength: 4, selector: ([name]) => name }),
      gap,
      fc.boolean(),
    )
    .map(([members, inner, trailing]) => {
      const list = members.map(
        ([name, one, before, after]) => `${before}${JSON.stringify(name)}${after}:${one}${after}`,
      );
      return `{${list.join(',')}${trailing && list.length > 0 ? ',' : ''}${inner}}`;
    }),
}));

const file = fc
  .tuple(
    fc.constantFrom('', '\uFEFF'),
    gap,
    fc.oneof(
      value.filter((text) => text.startsWith('{')),
      fc.constant(''),
    ),
    gap,
  )
  .map((parts) => parts.join(''));
