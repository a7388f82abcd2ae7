import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type CodeRuntime, openCodeRuntime } from '../../test/code-runtime.ts';

interface Answer {
  readonly violations: readonly {
    rule: string;
    node_id: string;
    message: string;
    file: string;
    line: number;
    level: string;
  }[];
  readonly suppressed: readonly { rule: string; message: string; line: number }[];
  readonly passed: boolean;
  readonly checked: number;
  readonly unparsed: readonly { file: string; line?: number; message: string }[];
}

const judge = (code: CodeRuntime, ...rules: readonly object[]) => code.ask<Answer>('ast_validate', { rules });
const messages = ({ violations }: Answer) => violations.map(({ message }) => message);

describe('ast_validate [S0-55]', () => {
  test('answers the example of the specification, with file, line and level [S0-55]', async () => {
    await using code = await openCodeRuntime({
      'src/lib.rs': 'pub fn bare() {}\n\n/// Good.\npub fn good() {}\n\nfn hidden() {}\n',
    });
    const rule = {
      id: 'exported_fn_docs',
      enforcement: 'blocking',
      where: { type: 'fn', exported: true },
      must_have: ['docstring'],
    };
    const { violations, passed, checked } = await judge(code, rule);
    assert.deepEqual(
      violations.map(({ node_id: _, ...rest }) => rest),
      [{ rule: 'exported_fn_docs', message: 'Missing rustdoc: bare', file: 'src/lib.rs', line: 1, level: 'blocking' }],
    );
    assert.deepEqual([passed, checked], [false, 2]);
    const { nodes } = await code.ask<{ nodes: { name: string }[] }>('ast_query', { node_id: violations[0]?.node_id });
    assert.equal(nodes[0]?.name, 'bare');
    const warned = await judge(code, { ...rule, enforcement: 'warning' });
    assert.deepEqual([warned.passed, warned.violations[0]?.level], [true, 'warning']);
  });

  test('a blocking rule fails on files that do not parse and names them; others only name them', async () => {
    await using code = await openCodeRuntime({
      'src/lib.rs': '/// A.\npub fn a() {}\npub fn b( { x.unwrap()\n',
      'sound.rs': '/// A.\npub fn a() {}\n',
      'broken.json': '{ "a": ',
    });
    const rule = { id: 'docs', enforcement: 'blocking', where: { type: 'function' }, must_have: ['docstring'] };
    const blocked = await judge(code, rule);
    assert.equal(blocked.passed, false);
    assert.deepEqual(
      blocked.unparsed.map(({ file, line }) => [file, line]),
      [['src/lib.rs', 3]],
    );
    const warned = await judge(code, { ...rule, enforcement: 'warning' });
    assert.deepEqual([warned.passed, warned.unparsed.length], [true, 1]);
    const elsewhere = await judge(code, { ...rule, where: { type: 'fn', file_glob: 'sound.rs' } });
    assert.deepEqual([elsewhere.passed, elsewhere.unparsed], [true, []]);
  });

  test('knows tests, return types, attributes and calls, as demands and as prohibitions [S0-55]', async () => {
    await using code = await openCodeRuntime({
      'src/a.ts': [
        'export function typed(): number { return 1; }',
        'export function bare() { return eval("1"); }',
        'export const arrow = (x: (y: number) => void) => x(1);',
        'export const typedArrow = (x: number): number => x;',
        '@Injectable({ a: 1 })',
        'export class Service { run(): void {} }',
        'export class Plain {}',
      ].join('\n'),
      'src/a.test.ts': "import { typed } from './a.ts';\ntest('x', () => { typed(); });\n",
      'src/b.rs': '#[inline]\n#[tokio::main]\nfn fast() -> u8 { 1 }\nfn slow() {}\n',
    });
    const functions = { type: 'fn', file_glob: 'src/a.ts' };
    const check = async (rule: object) => messages(await judge(code, { id: 'r', ...rule }));
    assert.deepEqual(await check({ where: functions, must_have: ['return_type'] }), [
      'Missing return type: bare',
      'Missing return type: arrow',
    ]);
    assert.deepEqual(await check({ where: functions, must_have: ['test'] }), [
      'Missing test: bare',
      'Missing test: arrow',
      'Missing test: typedArrow',
    ]);
    assert.deepEqual(await check({ where: functions, must_not_have: ['call:eval'] }), ['Unwanted call of eval: bare']);
    const classes = { type: 'class' };
    assert.deepEqual(await check({ where: classes, must_have: ['attr:Injectable'] }), [
      'Missing attribute Injectable: Plain',
    ]);
    const rust = { language: 'rust' };
    assert.deepEqual(await check({ where: rust, must_have: ['return_type'] }), ['Missing return type: slow']);
    assert.deepEqual(await check({ where: rust, must_not_have: ['attr:main', 'attr:tokio::main'] }), [
      'Unwanted attribute main: fast',
      'Unwanted attribute tokio::main: fast',
    ]);
    assert.deepEqual(await check({ where: rust, must_not_have: ['attr:in', 'attr:tokio'] }), []);
  });

  test('a comment switches a rule off, and the answer lists it [S0-55]', async () => {
    await using code = await openCodeRuntime({
      'a.py': '# sdk-ignore docs\ndef one():\n    return 1\n\ndef two():\n    return "sdk-ignore docs"\n',
    });
    const answer = await judge(code, { id: 'docs', where: { type: 'fn' }, must_have: ['docstring'] });
    assert.deepEqual(messages(answer), ['Missing docstring: two']);
    assert.deepEqual(
      answer.suppressed.map(({ rule, message, line }) => [rule, message, line]),
      [['docs', 'Missing docstring: one', 2]],
    );
    const other = await judge(code, { id: 'other', where: { type: 'fn' }, must_have: ['docstring'] });
    assert.equal(other.violations.length, 2);
  });

  test('refuses unknown fields instead of passing everything [S0-55]', async () => {
    await using code = await openCodeRuntime({ 'a.py': 'x = 1\n' });
    const refused = [
      { id: 'r', must_have: ['beauty'] },
      { id: 'r', must_have: ['attr:'] },
      { id: 'r', where: { colour: 'red' }, must_have: ['docstring'] },
      { id: 'r', where: { type: 'fn' } },
      { id: 'r', enforcement: 'fatal', must_have: ['docstring'] },
    ];
    for (const rule of refused) {
      assert.equal(
        (await code.refusal('ast_validate', { rules: [rule] })).code,
        'E_VALIDATION_FAIL',
        JSON.stringify(rule),
      );
    }
    assert.equal((await judge(code, { id: 'r', must_have: ['docstring'] })).checked, 1);
  });
});
