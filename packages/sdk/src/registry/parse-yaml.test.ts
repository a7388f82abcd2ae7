import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { parseYaml } from './parse-yaml.ts';
import { MAX_REGISTRY_BYTES } from './problems.ts';

/** `line:column message` of every problem. */
function problemsOf(text: string): readonly string[] {
  return parseYaml(text).problems.map(({ line, column, message }) => `${line}:${column} ${message}`);
}

function aliases(count: number): string {
  return `base: &base [1]\nlist: [${Array.from({ length: count }, () => '*base').join(', ')}]\n`;
}

describe('parseYaml', () => {
  test('reads values and remembers where each key and item is written', () => {
    const { value, places, problems, warnings } = parseYaml('a: 1\nb:\n  - x\n  - c: {d: true}\n');
    assert.deepEqual(value, { a: 1, b: ['x', { c: { d: true } }] });
    assert.deepEqual(
      [...places],
      [
        ['a', { line: 1, column: 1 }],
        ['b', { line: 2, column: 1 }],
        ['b.0', { line: 3, column: 5 }],
        ['b.1', { line: 4, column: 5 }],
        ['b.1.c', { line: 4, column: 5 }],
        ['b.1.c.d', { line: 4, column: 9 }],
      ],
    );
    assert.deepEqual([problems, warnings], [[], []]);
  });

  test('reads words of older YAML as text and keys as text', () => {
    assert.deepEqual(parseYaml('a: yes\n1: on\ntrue: 0o17\n').value, { a: 'yes', '1': 'on', true: 15 });
  });

  const refused: [string, string, readonly string[]][] = [
    ['nothing at all', '', ['1:1 Registry is empty: write version: 1 first']],
    ['only comments', '# a\n\n# b\n', ['1:1 Registry is empty: write version: 1 first']],
    [
      'a duplicate key, with its line',
      'a: 1\nb: {c: 1, c: 2}\na: 2\n',
      ['2:11 Duplicate key: c', '3:1 Duplicate key: a'],
    ],
    ['two documents', 'a: 1\n---\nb: 2\n', ['2:1 More than one document: a registry must be one']],
    ['a directive', '%YAML 1.1\n---\na: yes\n', ['1:1 YAML directives are not allowed']],
    [
      'tags',
      'a: !!set {x}\nb: !own 1\n',
      ['1:10 Tags are not allowed: tag:yaml.org,2002:set', '2:9 Tags are not allowed: !own'],
    ],
    ['merge keys', 'a: &a {b: 1}\nc:\n  <<: *a\n', ['3:3 Merge keys are not supported: <<']],
    ['__proto__', 'a:\n  __proto__: 1\n', ['2:3 Key is not allowed: __proto__']],
    ['infinity', 'a: .inf\nb: 1e400\n', ['1:4 Number is not finite: a', '2:4 Number is not finite: b']],
    ['numbers that lose digits', 'a: 12345678901234567890\n', ['1:4 Number is too large to be exact: a']],
    ['half a character', 'a: "\\ud800"\n', ['1:4 Text holds half a character: a lone surrogate']],
    ['an alias without an anchor', 'a: *b\n', ['1:4 Alias has no anchor: b']],
    ['an alias to itself', 'a: &a [*a]\n', ['1:7 Nesting is too deep: more than 32 levels']],
    ['seventeen aliases', aliases(17), ['2:120 Too many aliases: more than 16']],
    ['33 levels', `a: ${'['.repeat(40)}`, ['1:37 Nesting is too deep: more than 32 levels']],
    ['20 000 brackets', '['.repeat(20_000), ['1:35 Nesting is too deep: more than 32 levels']],
    ['20 000 dashes', '- '.repeat(20_000), ['1:68 Nesting is too deep: more than 32 levels']],
    ['too many bytes', `a: ${'x'.repeat(MAX_REGISTRY_BYTES)}`, ['1:1 Registry is larger than 65536 bytes']],
  ];
  for (const [name, text, expected] of refused) {
    test(`refuses ${name}`, () => assert.deepEqual(problemsOf(text), expected));
  }

  test('accepts what lies just inside the limits', () => {
    const filler = `a: ${'x'.repeat(MAX_REGISTRY_BYTES - 3)}`;
    const nested = `a: ${'['.repeat(30)}1${']'.repeat(30)}\n`;
    for (const text of [aliases(16), filler, nested]) assert.deepEqual(problemsOf(text), []);
  });

  test('an alias bomb costs no more than the limit', () => {
    const levels = Array.from({ length: 9 }, (_, level) =>
      level === 0
        ? 'l0: &l0 [x]'
        : `l${level}: &l${level} [${Array.from({ length: 9 }, () => `*l${level - 1}`).join(', ')}]`,
    );
    assert.match(problemsOf(`${levels.join('\n')}\n`).join(), /Too many aliases/);
  });

  test('many keys are read without comparing each with each', () => {
    const text = Array.from({ length: 6000 }, (_, index) => `k${index}: 1`).join('\n');
    assert.equal(Object.keys(parseYaml(text).value as object).length, 6000);
  });

  test('reports all syntax errors at once', () => {
    const problems = problemsOf('a: "x\\q"\nb: [1\nc: }\n');
    assert.ok(problems.length >= 2, problems.join('\n'));
    assert.match(problems.join('\n'), /^1:6 Not valid YAML: Invalid escape sequence \\q$/m);
    assert.match(problems.join('\n'), /^3:/m);
  });

  test('does not repeat a long text in what it says about it', () => {
    const problems = problemsOf(`'']${"x]\ncfs_*', ".repeat(5000)}`);
    assert.match(problems.join('\n'), /Unexpected scalar token/);
    for (const problem of problems) assert.ok(problem.length < 200, problem.slice(0, 300));
  });

  test('throws for no text whatever (deep)', () => {
    const piece = fc.constantFrom(
      'a',
      ': ',
      '- ',
      '\n',
      '  ',
      '[',
      ']',
      '{',
      '}',
      '"',
      "'",
      '\\s',
      '&a ',
      '*a',
      '!t ',
      '? ',
      '|\n',
      '#',
      '\t',
      '---\n',
      '<<',
    );
    const soup = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(fc.oneof(soup, fc.string({ unit: 'binary' })), (text) => {
        const { value, problems } = parseYaml(text);
        assert.ok(value !== undefined || problems.length > 0);
      }),
      { numRuns: 3000 },
    );
  });
});

describe('invalid escapes in double quotes', () => {
  test('are read literally, with one warning for each scalar at its line [S0-24]', () => {
    const { value, problems, warnings } = parseYaml('a: ["^x(\\s|$)", "\\d\\.", "plain"]\nb: "say \\"\\w\\""\n');
    assert.deepEqual(value, { a: ['^x(\\s|$)', '\\d\\.', 'plain'], b: 'say "\\w"' });
    assert.deepEqual(problems, []);
    assert.deepEqual(
      warnings.map(({ line, column }) => `${line}:${column}`),
      ['1:5', '1:17', '2:4'],
    );
    for (const { message } of warnings) assert.match(message, /single quotes/);
  });

  test('keep the places of what follows on the line [S0-24]', () => {
    const { places } = parseYaml('a: ["\\s\\s\\s", x]\n');
    assert.deepEqual(places.get('a.1'), { line: 1, column: 15 });
  });

  test('make the whole scalar literal, valid escapes in it included [S0-24]', () => {
    assert.deepEqual(parseYaml('a: "^npm\\s+run\\b"\n').value, { a: '^npm\\s+run\\b' });
    assert.deepEqual(parseYaml('a: "\\s\\\\"\n').value, { a: '\\s\\\\' });
  });

  test('leave valid scalars elsewhere alone [S0-24]', () => {
    assert.deepEqual(parseYaml('a: "\\s"\nb: "\\t\\\\x"\n').value, { a: '\\s', b: '\t\\x' });
  });

  test('are an error beside any other syntax error [S0-24]', () => {
    const { value, problems, warnings } = parseYaml('a: "\\s"\nb: [\n');
    assert.equal(value, undefined);
    assert.deepEqual(warnings, []);
    assert.match(problems[0]?.message ?? '', /Invalid escape sequence/);
  });

  test('single quotes and doubled backslashes give the same text and no warning [S0-24]', () => {
    for (const text of ["a: '^x(\\s|$)'\n", 'a: "^x(\\\\s|$)"\n', 'a: ^x(\\s|$)\n']) {
      const { value, warnings } = parseYaml(text);
      assert.deepEqual([value, warnings], [{ a: '^x(\\s|$)' }, []]);
    }
  });
});
