import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { setTomlTable } from './edit-toml.ts';
import { parseToml } from './toml-tree.ts';

const PATH = ['mcp_servers', 'tool-runtime'];
const ENTRY = { command: 'node', args: ['mcp', '--workspace', '/w'] };
const TABLE = '[mcp_servers.tool-runtime]\ncommand = "node"\nargs = ["mcp", "--workspace", "/w"]\n';

describe('setting a table of a TOML file', () => {
  test('comes at the end, and everything before keeps its bytes', () => {
    assert.equal(setTomlTable('', PATH, ENTRY), TABLE);
    const before = `model = "x" # comment
notify = ["a", # one
  "b]"]
text = """
[mcp_servers.tool-runtime]
"""

[mcp_servers.other]
command = 'C:\\x'
[profiles."a.b"]
n = 1_000
`;
    assert.equal(setTomlTable(before, PATH, ENTRY), `${before}\n${TABLE}`);
    assert.equal(setTomlTable('a = 1', PATH, ENTRY), `a = 1\n\n${TABLE}`);
    assert.equal(setTomlTable('\uFEFFa = 1\r\n', PATH, ENTRY), `\uFEFFa = 1\r\n\r\n${TABLE.replaceAll('\n', '\r\n')}`);
  });

  test('takes the place of an older entry with its tables below, and keeps the comments of the next one', () => {
    const before = `[a]
b = 1
# mine
[mcp_servers.tool-runtime] # here
command = "old" # gone
[mcp_servers.tool-runtime.env]
K = "v"
# of the other
[mcp_servers.other]
command = "x"
`;
    const after = `[a]
b = 1
# mine
${TABLE}# of the other
[mcp_servers.other]
command = "x"
`;
    assert.equal(setTomlTable(before, PATH, ENTRY), after);
    assert.equal(setTomlTable(after, PATH, ENTRY), after);
  });

  test('takes the place of an entry that is written as pairs or inline', () => {
    const others = 'other.command = "x"\n';
    for (const old of [
      'tool-runtime = { command = "old", args = [] }\n',
      'tool-runtime.command = "old"\n"tool-runtime".args = []\n',
    ]) {
      const after = setTomlTable(`[mcp_servers]\n${old}${others}[z]\n`, PATH, ENTRY);
      assert.equal(after, `[mcp_servers]\n${others}[z]\n\n${TABLE}`);
    }
    assert.equal(setTomlTable('mcp_servers.tool-runtime.command = "old"\nq = 1\n', PATH, ENTRY), `q = 1\n\n${TABLE}`);
  });

  test('refuses a parent that cannot be extended', () => {
    for (const text of [
      'mcp_servers = { a = { command = "x" } }\n',
      '[[mcp_servers]]\nname = "a"\n',
      '[[mcp_servers.tool-runtime]]\n',
    ]) {
      assert.throws(() => setTomlTable(text, PATH, ENTRY), /No place for the entry at 1:1/, text);
    }
  });

  test('refuses what does not parse, and says where', () => {
    for (const [text, problem] of [
      ['a = ', /1:5/],
      ['a = 1 b = 2', /1:7.*the line goes on/],
      ['a = "x', /1:5/],
      ['a = """x', /1:5.*text has no end/],
      ['[a', /1:3/],
      ['a = [1, 2', /1:10/],
      ['= 1', /1:1/],
      ['a = yes', /1:5/],
      ['a = 1\na = 2', /2:1.*occurs twice: a/],
      ['[t]\n[t]', /2:1.*occurs twice: t/],
    ] as const) {
      assert.throws(() => setTomlTable(text, PATH, ENTRY), problem, text);
    }
  });

  test('escapes what a path may hold', () => {
    const text = setTomlTable('', PATH, { command: 'C:\\a "b"\u007f', args: ['é\n'] });
    assert.equal(text, '[mcp_servers.tool-runtime]\ncommand = "C:\\\\a \\"b\\"\\u007f"\nargs = ["é\\n"]\n');
    assert.deepEqual(parseToml(text)[1]?.value, 'C:\\a "b"\u007f');
  });

  test('whatever the file, it parses afterwards and every other pair has the same value', () => {
    fc.assert(
      fc.property(file, (text) => {
        let before: ReturnType<typeof pairs>;
        try {
          before = pairs(text);
        } catch {
          // The generator may repeat a name; such files are refused.
          assert.throws(() => setTomlTable(text, PATH, ENTRY), /occurs twice/);
          return;
        }
        let after: string;
        try {
          after = setTomlTable(text, PATH, ENTRY);
        } catch (thrown) {
          assert.match(String(thrown), /No place for the entry/);
          return;
        }
        const isOurs = ([path]: [string, unknown]): boolean => path.startsWith('["mcp_servers","tool-runtime"');
        assert.deepEqual(
          pairs(after).filter((pair) => !isOurs(pair)),
          before.filter((pair) => !isOurs(pair)),
        );
        assert.deepEqual(
          pairs(after).filter(isOurs),
          Object.entries(ENTRY).map(([key, value]) => [JSON.stringify([...PATH, key]), value]),
        );
        assert.equal(setTomlTable(after, PATH, ENTRY), after);
        for (const comment of text.match(/# keep \d/g) ?? []) assert.ok(after.includes(comment));
      }),
      { numRuns: 2000 },
    );
  });
});

function pairs(text: string): [string, unknown][] {
  return parseToml(text)
    .filter(({ kind }) => kind === 'pair')
    .map(({ path, value }) => [JSON.stringify(path), value]);
}

const value = fc.constantFrom(
  '1',
  '-2.5',
  '"a # b"',
  "'c:\\d'",
  'true',
  '1979-05-27T07:32:00Z',
  '[1, # x\n 2]',
  '{ a = 1, b.c = "}" }',
  '"""\n[mcp_servers.tool-runtime]\n"""',
  "'''\n# '' \n'''",
  '[]',
  '[ { a = "]" }, ]',
);
const name = fc.constantFrom('a', 'b', 'command', '"q.r"', 'mcp_servers.x', 'tool-runtime', 'tool-runtime.env.A');
const pair = fc
  .tuple(name, value, fc.constantFrom('', ' # note', '\t'))
  .map(([key, one, end]) => `${key} = ${one}${end}`);
const header = fc.constantFrom(
  '[a]',
  '[ b . "c" ]',
  '[mcp_servers]',
  '[mcp_servers.other]',
  '[mcp_servers.tool-runtime]',
  '[mcp_servers.tool-runtime.env] # e',
  '[[list]]',
  '[list.sub]',
  '[mcp_servers."tool-runtime".tools.x]',
);
const line = fc.oneof(pair, pair, header, fc.constantFrom('', '  ', '# keep 1', '# keep 2'));
const file = fc
  .tuple(fc.array(line, { maxLength: 12 }), fc.constantFrom('\n', '\r\n'), fc.constantFrom('', '\uFEFF'), fc.boolean())
  .map(([lines, eol, mark, closed]) => mark + lines.join(eol) + (closed ? eol : ''));
