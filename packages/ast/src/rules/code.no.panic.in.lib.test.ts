import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { messagesOf, openCommitGate } from '../../test/commit-gate.ts';

const rule = 'code.no.panic.in.lib';

const EXAMPLES: readonly [path: string, text: string, found: readonly string[]][] = [
  ['src/lib.rs', 'fn a() {\n    panic!("no");\n}\n', ['panic! (src/lib.rs:2)']],
  [
    'src/lib.rs',
    'fn a() { todo!() }\nfn b() { unimplemented!() }\n',
    ['todo! (src/lib.rs:1)', 'unimplemented! (src/lib.rs:2)'],
  ],
  ['src/lib.rs', 'fn a() { vec![panic!("in an argument")]; }\n', ['panic! (src/lib.rs:1)']],
  ['src/lib.rs', 'fn a() -> Result<(), String> { Err("panic!".into()) } // panic!\n', []],
  ['src/main.rs', 'fn main() { panic!("mine to decide") }\n', []],
  ['examples/x.rs', 'fn main() { panic!("mine to decide") }\n', []],
  ['src/lib.rs', '#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() { panic!("no") }\n}\n', []],
  ['tests/it.rs', '#[test]\nfn t() { panic!("no") }\n', []],
  ['src/a.ts', 'export const a = () => process.exit(1);\n', ['exit() (src/a.ts:1)']],
  ['src/a.ts', 'export const a = () => { throw new Error("caller can catch it"); };\n', []],
  ['src/cli.ts', 'process.exit(1);\n', []],
  ['a.go', 'package a\n\nfunc A() { panic("no") }\n', ['panic() (a.go:3)']],
  ['cmd/x/main.go', 'package main\n\nfunc main() { panic("no") }\n', []],
  ['a.py', 'import sys\n\ndef a():\n    sys.exit(1)\n', ['exit() (a.py:4)']],
];

describe('code.no.panic.in.lib [S0-69]', () => {
  test('finds what ends the program in library code, and leaves entry points, examples and tests alone [S0-69] (deep)', async () => {
    await using gate = await openCommitGate({ rule });
    for (const [path, text, found] of EXAMPLES) {
      const { error } = await gate.commit({ [path]: text });
      assert.deepEqual(
        messagesOf(error),
        found.map((place) => `Library code ends the program: ${place}`),
        `${path}: ${text}`,
      );
      await gate.commit({ [path]: null });
    }
  });

  test('as a warning it lets the commit pass and says so [S0-69 S0-72]', async () => {
    await using gate = await openCommitGate({ rule, level: 'warning' });
    const { ok, warnings } = await gate.commit({ 'src/lib.rs': 'fn a() { panic!() }\n' });
    assert.equal(ok, true);
    assert.deepEqual(
      warnings.map(({ path, details }) => [path, details?.['rule'], details?.['line']]),
      [['src/lib.rs', rule, 1]],
    );
    const ignored = 'fn a() { panic!() } // sdk-ignore code.no.panic.in.lib\n';
    assert.deepEqual((await gate.commit({ 'src/lib.rs': ignored })).warnings, []);
  });
});
