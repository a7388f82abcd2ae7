import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AnalyzerFinding } from '../analyzer-adapter.ts';
import { type ParseContext, parseAnalysis } from '../parse-analysis.ts';
import { relativeTo } from '../workspace-path.ts';

const SOURCE = 'let f = "😀é"; call();\r\nsecond line\n';
const context: ParseContext = { toRelative: relativeTo('/srv/project'), readSource: () => Buffer.from(SOURCE) };

interface Sample {
  readonly run?: object;
  readonly result?: object;
  readonly location?: object;
  readonly region?: object | null;
}

/** One run with one result, the parts that matter replaced. */
function log({ run = {}, result = {}, location = { uri: 'a.ts' }, region = { startLine: 2 } }: Sample): object {
  const physicalLocation = { artifactLocation: location, ...(region === null ? {} : { region }) };
  const one = { ruleId: 'r', message: { text: 'm' }, locations: [{ physicalLocation }], ...result };
  return { version: '2.1.0', runs: [{ tool: { driver: { name: 'Tool' } }, results: [one], ...run }] };
}

const parse = (value: object, more: Partial<ParseContext> = {}) =>
  parseAnalysis('sarif', JSON.stringify(value), { ...context, ...more });

async function only(sample: Sample, more: Partial<ParseContext> = {}): Promise<AnalyzerFinding> {
  const { findings } = await parse(log(sample), more);
  assert.equal(findings.length, 1);
  return findings[0]!;
}

describe('SARIF', () => {
  test('is read whatever version it calls itself, over several runs [S0-56]', async () => {
    const { runs } = log({}) as { runs: object[] };
    const other = { ...runs[0], tool: { driver: { name: 'Other' } } };
    const { findings } = await parse({ version: '0.51.0', runs: [...runs, other, null, {}] });
    assert.deepEqual(
      findings.map(({ provider, rule, level, file, line }) => [provider, rule, level, file, line]),
      [
        ['Tool', 'r', 'warning', 'a.ts', 2],
        ['Other', 'r', 'warning', 'a.ts', 2],
      ],
    );
    const renamed = await parse(log({}), { provider: 'mine' });
    assert.equal(renamed.findings[0]?.provider, 'mine');
  });

  describe('addresses', () => {
    const originalUriBaseIds = {
      ROOT: { uri: 'file:///srv/project/' },
      SRC: { uri: 'sub%20folder', uriBaseId: 'ROOT' },
      EMPTY: {},
      ELSEWHERE: { uri: 'file:///opt/other/' },
      CIRCLE: { uri: 'x', uriBaseId: 'CIRCLE' },
    };
    const artifacts = [{ location: { uri: 'listed.ts', uriBaseId: 'ROOT' } }];
    const inside: readonly [object, string][] = [
      [{ uri: 'src/a%20b.ts' }, 'src/a b.ts'],
      [{ uri: 'src/a b%20c.ts' }, 'src/a b%20c.ts'],
      [{ uri: 'src/100%.ts' }, 'src/100%.ts'],
      [{ uri: 'C#/a.cs' }, 'C#/a.cs'],
      [{ uri: 'file:///srv/project/%C3%A9.ts' }, 'é.ts'],
      [{ uri: '/srv/project/a.ts' }, 'a.ts'],
      [{ uri: 'a.ts', uriBaseId: 'ROOT' }, 'a.ts'],
      [{ uri: 'a.ts', uriBaseId: 'SRC' }, 'sub folder/a.ts'],
      [{ uri: 'a.ts', uriBaseId: 'EMPTY' }, 'a.ts'],
      [{ uri: 'a.ts', uriBaseId: 'UNKNOWN' }, 'a.ts'],
      [{ uri: 'file:///srv/project/b.ts', uriBaseId: 'ELSEWHERE' }, 'b.ts'],
      [{ index: 0 }, 'listed.ts'],
    ];
    for (const [location, file] of inside) {
      test(`${JSON.stringify(location)} is ${file} [S0-56]`, async () => {
        assert.equal((await only({ run: { originalUriBaseIds, artifacts }, location })).file, file);
      });
    }
    const outside: readonly [object, string][] = [
      [{ uri: 'a.ts', uriBaseId: 'ELSEWHERE' }, 'outside'],
      [{ uri: '../a.ts' }, 'outside'],
      [{ uri: '%2e%2e/a.ts' }, 'outside'],
      [{ uri: 'file:///etc/passwd' }, 'outside'],
      [{ uri: 'https://example.org/a.ts' }, 'no_file'],
      [{ index: 7 }, 'no_file'],
      [{}, 'no_file'],
    ];
    for (const [location, kind] of outside) {
      test(`${JSON.stringify(location)} is dropped and counted: ${kind} [S0-56]`, async () => {
        const { findings, notes } = await parse(log({ run: { originalUriBaseIds, artifacts }, location }));
        assert.deepEqual([findings.length, notes.map((note) => [note.kind, note.count])], [0, [[kind, 1]]]);
      });
    }
    test('a base that builds on itself ends [S0-56]', async () => {
      assert.match(
        (await only({ run: { originalUriBaseIds }, location: { uri: 'a', uriBaseId: 'CIRCLE' } })).file,
        /a$/,
      );
    });

    test('producers known to print plain paths are taken by their word [S0-56]', async () => {
      const run = { tool: { driver: { name: 'Biome' } } };
      assert.equal((await only({ run, location: { uri: '/srv/project/p%20q.ts' } })).file, 'p%20q.ts');
    });
  });

  describe('regions', () => {
    const call = { line: 1, col: 16, endLine: 1, endCol: 22 };
    const named = (name: string, more: object = {}): object => ({ tool: { driver: { name } }, ...more });
    const samples: readonly { title: string; run?: object; region: object | null; expected: object }[] = [
      {
        title: 'in UTF-16 units stay',
        run: { columnKind: 'utf16CodeUnits' },
        region: { startLine: 1, startColumn: 16, endColumn: 22 },
        expected: call,
      },
      {
        title: 'in code points are converted',
        run: { columnKind: 'unicodeCodePoints' },
        region: { startLine: 1, startColumn: 15, endLine: 1, endColumn: 21 },
        expected: call,
      },
      {
        title: 'of an unsaid unit count code points',
        region: { startLine: 1, startColumn: 15, endColumn: 21 },
        expected: call,
      },
      {
        title: 'of oxlint count bytes, whatever it says',
        run: named('oxlint', { columnKind: 'unicodeCodePoints' }),
        region: { startLine: 1, startColumn: 19, endColumn: 25 },
        expected: call,
      },
      {
        title: 'given as bytes are looked up',
        region: { byteOffset: 18, byteLength: 6 },
        expected: { ...call, span: { start: 18, end: 24 } },
      },
      {
        title: 'given as characters are looked up in the unit of the run',
        region: { charOffset: 14, charLength: 6 },
        expected: call,
      },
      {
        title: 'of a whole line end before its line break',
        region: { startLine: 1 },
        expected: { line: 1, col: 1, endLine: 1, endCol: 23 },
      },
      { title: 'may be missing', region: null, expected: { line: 1, col: 1 } },
      {
        title: 'may be nonsense',
        region: { startLine: 0, startColumn: -4, byteOffset: -1, charOffset: 1.5 },
        expected: { line: 1, col: 1 },
      },
      {
        title: 'that end before they start lose their end',
        region: { startLine: 2, startColumn: 5, endLine: 1, endColumn: 1 },
        expected: { line: 2, col: 5 },
      },
    ];
    for (const { title, expected, ...sample } of samples) {
      test(`${title} [S0-56]`, async () => {
        const { line, col, endLine, endCol, span } = await only(sample);
        const place = { line, col, endLine, endCol, span };
        assert.deepEqual(place, { endLine: undefined, endCol: undefined, span: undefined, ...expected });
      });
    }
  });

  describe('rules', () => {
    const rules = [
      { id: 'a', defaultConfiguration: { level: 'error' }, helpUri: 'https://example.org/a' },
      { id: 'b', messageStrings: { long: { text: '{0} is {{not}} {1}{9}' } }, helpUri: 'javascript:x' },
    ];
    const extensions = [{ name: 'E', rules: [{ id: 'e', defaultConfiguration: { level: 'note' } }] }];
    const run = { tool: { driver: { name: 'Tool', rules }, extensions } };
    const facts = async (result: object) => {
      const { rule, level, message, docs } = await only({ run, result });
      return [rule, level, message, docs];
    };

    test('are found by place, by name, by a refined name and in extensions [S0-56]', async () => {
      const described = ['error', 'm', 'https://example.org/a'];
      assert.deepEqual(await facts({ ruleId: undefined, ruleIndex: 0 }), ['a', ...described]);
      assert.deepEqual(await facts({ ruleId: 'a' }), ['a', ...described]);
      assert.deepEqual(await facts({ ruleId: 'a/special/case' }), ['a/special/case', ...described]);
      const inExtension = { ruleId: undefined, rule: { index: 0, toolComponent: { index: 0 } } };
      assert.deepEqual(await facts(inExtension), ['e', 'note', 'm', undefined]);
      assert.deepEqual(await facts({ ruleId: undefined, ruleIndex: 99 }), ['unknown', 'warning', 'm', undefined]);
    });

    test('the result decides the level before its rule does [S0-56]', async () => {
      const level = async (result: object) => (await only({ run, result: { ruleId: 'a', ...result } })).level;
      assert.equal(await level({ level: 'note' }), 'note');
      assert.equal(await level({ level: 'none' }), 'note');
      assert.equal(await level({ kind: 'review' }), 'note');
      assert.equal(await level({ kind: 'fail' }), 'error');
      assert.equal(await level({ level: 'nonsense' }), 'error');
    });

    test('keep messages with places for arguments', async () => {
      const message = { id: 'long', arguments: ['this', 'that'] };
      assert.deepEqual(await facts({ ruleId: 'b', message }), ['b', 'warning', 'this is {not} that{9}', undefined]);
      assert.equal((await facts({ ruleId: 'b', message: {} }))[2], 'b');
    });
  });

  test('suppressed findings are counted, disputed ones stay, and passed checks are left out [S0-56]', async () => {
    const kinds = async (result: object) => {
      const { findings, notes } = await parse(log({ result }));
      return [findings.length, ...notes.map(({ kind }) => kind)];
    };
    assert.deepEqual(await kinds({ suppressions: [{ kind: 'inSource' }] }), [0, 'suppressed']);
    assert.deepEqual(await kinds({ suppressions: [{ kind: 'external', status: 'accepted' }] }), [0, 'suppressed']);
    assert.deepEqual(await kinds({ suppressions: [{ kind: 'external', status: 'rejected' }] }), [1]);
    assert.deepEqual(await kinds({ suppressions: [] }), [1]);
    assert.deepEqual(await kinds({ kind: 'pass' }), [0]);
    assert.deepEqual(await kinds({ baselineState: 'absent' }), [0]);
  });

  describe('fixes', () => {
    const change = (uri: string, deletedRegion: object, insertedContent?: object): object => ({
      artifactLocation: { uri },
      replacements: [{ deletedRegion, ...(insertedContent === undefined ? {} : { insertedContent }) }],
    });
    const withFix = (...artifactChanges: readonly object[]): Sample => ({ result: { fixes: [{ artifactChanges }] } });
    const region = { startLine: 1, startColumn: 15, endColumn: 21 };

    test('are replacements in one file or several, the first of the alternatives [S0-56]', async () => {
      const { fix } = await only(
        withFix(
          change('a.ts', region, { text: 'run()' }),
          change('b.ts', { charOffset: 0, charLength: 0 }, { text: '!' }),
        ),
      );
      assert.deepEqual(fix?.edits, [
        { file: 'a.ts', startLine: 1, startCol: 16, endLine: 1, endCol: 22, newText: 'run()' },
        { file: 'b.ts', startLine: 1, startCol: 1, endLine: 1, endCol: 1, newText: '!' },
      ]);
      const whole = await only(withFix(change('a.ts', { startLine: 2 })));
      assert.deepEqual(whole.fix?.edits, [
        { file: 'a.ts', startLine: 2, startCol: 1, endLine: 2, endCol: 12, newText: '' },
      ]);
    });

    test('that reach outside, are binary or have no place are left out whole [S0-56]', async () => {
      const bad = [
        change('../x.ts', region, { text: '' }),
        change('a.ts', region, { binary: 'AA==' }),
        change('a.ts', {}, { text: '' }),
      ];
      for (const one of bad) {
        const { findings, notes } = await parse(log(withFix(change('a.ts', region, { text: '' }), one)));
        assert.deepEqual([findings.length, findings[0]?.fix, notes.map(({ kind }) => kind)], [1, undefined, ['fix']]);
      }
    });
  });

  test('what the analyzer says of its own run is told', async () => {
    const invocations = [
      {
        executionSuccessful: false,
        exitCodeDescription: 'out of memory',
        toolExecutionNotifications: [
          { level: 'error', message: { text: 'cannot parse b.ts' } },
          { level: 'note', message: { text: 'hello' } },
        ],
      },
    ];
    const { notes } = await parse(log({ run: { invocations } }));
    assert.deepEqual(
      notes.map(({ message }) => message),
      ['The analyzer calls its own run unsuccessful: out of memory', 'cannot parse b.ts'],
    );
  });

  test('is refused without runs', async () => {
    await assert.rejects(parse({ version: '2.1.0' }), { code: 'E_VALIDATION_FAIL' });
    assert.deepEqual(await parse({ runs: [] }), { findings: [], notes: [] });
  });
});
