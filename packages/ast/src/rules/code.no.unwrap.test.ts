import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { messagesOf, openCommitGate } from '../../test/commit-gate.ts';

const rule = 'code.no.unwrap';

const EXAMPLES: readonly [path: string, text: string, found: readonly string[]][] = [
  ['src/lib.rs', 'fn a(x: Option<u8>) -> u8 {\n    x.unwrap()\n}\n', ['unwrap() (src/lib.rs:2)']],
  ['src/main.rs', 'fn main() { Some(1).unwrap(); }\n', ['unwrap() (src/main.rs:1)']],
  ['src/lib.rs', 'fn a(x: Option<u8>) { println!("{}", x.unwrap()); }\n', ['unwrap() (src/lib.rs:1)']],
  ['src/lib.rs', 'fn a(x: Option<u8>) -> u8 { x.unwrap_or(1) } // .unwrap()\n', []],
  ['src/lib.rs', '#[test]\nfn t() { Some(1).unwrap(); }\n', []],
  ['benches/b.rs', 'fn t() { Some(1).unwrap(); }\n', []],
  ['src/a.ts', 'export const a = (x?: string) => x!.length;\n', ['! (src/a.ts:1)']],
  ['src/a.ts', 'export const a = (x?: string) => !x && x !== "";\nlet b!: string;\n', []],
  ['src/a.test.ts', 'const x = map.get("a")!;\n', []],
  [
    'src/A.java',
    'class A { int a(java.util.Optional<Integer> x) { return x.orElseThrow(); } }\n',
    ['orElseThrow() (src/A.java:1)'],
  ],
];

describe('code.no.unwrap [S0-69]', () => {
  test('finds unwrapping outside tests, in arguments of macros too, by the language of the file [S0-69] (deep)', async () => {
    await using gate = await openCommitGate({ rule });
    for (const [path, text, found] of EXAMPLES) {
      const { error } = await gate.commit({ [path]: text });
      assert.deepEqual(
        messagesOf(error),
        found.map((place) => `Unchecked unwrap: ${place}`),
        `${path}: ${text}`,
      );
      await gate.commit({ [path]: null });
    }
  });

  test('a comment on the line or above switches it off [S0-69]', async () => {
    await using gate = await openCommitGate({ rule });
    const off = [
      'fn a(x: Option<u8>) -> u8 { x.unwrap() } // sdk-ignore code.no.unwrap',
      'fn a(x: Option<u8>) -> u8 {\n    // checked above: sdk-ignore code.no.unwrap, code.no.panic.in.lib\n    x.unwrap()\n}',
      '/* sdk-ignore code.no.unwrap */ fn a(x: Option<u8>) -> u8 { x.unwrap() }',
    ];
    for (const text of off) assert.equal((await gate.commit({ 'src/lib.rs': `${text}\n` })).ok, true, text);
    const on = 'fn a(x: Option<u8>) -> u8 {\n    x.unwrap()\n    // sdk-ignore code.no.unwrap\n}\n';
    assert.equal((await gate.commit({ 'src/lib.rs': on })).ok, false, 'below');
  });

  test('the same content is judged by where it lies, whatever was kept of it before', async () => {
    await using gate = await openCommitGate({ rule });
    const text = 'fn a(x: Option<u8>) -> u8 { x.unwrap() }\n';
    const first = await gate.commit({ 'src/lib.rs': text });
    const again = await gate.commit({ 'src/other.rs': 'fn b() {}\n' });
    assert.deepEqual(again.error, first.error);
    const moved = await gate.commit({ 'src/lib.rs': null, 'tests/it.rs': text });
    assert.equal(moved.ok, true, 'the same content is test code elsewhere');
  });
});
