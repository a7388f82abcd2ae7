import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { inForce, withGate } from '../../test/gate-probe.ts';
import { isConventionalHeader, judgeMessage, suggestHeader } from './commit.message.conventional.ts';

describe('commit.message.conventional [S0-71]', () => {
  const good = [
    'feat: add x',
    'fix(parser): handle empty input',
    'feat!: drop node 18',
    'refactor(core api)!: rename',
    'docs: x\n\nbody\n\nRefs: #1',
    'chore: x\r\n\r\nbody',
    '\n\nfix: leading empty lines are git’s to strip\n',
    "Merge branch 'x' into main",
    'Merge pull request #1 from a/b',
    'Revert "feat: add x"\n\nThis reverts commit abc.',
    'fixup! feat: add x',
    'squash! whatever',
    'amend! whatever',
    'revert: feat: add x',
  ];
  for (const message of good) {
    test(`accepts ${JSON.stringify(message)} [S0-71]`, () => assert.equal(judgeMessage(message), undefined));
  }

  const suggestions: Readonly<Record<string, string>> = {
    'Feat: added x': 'feat: added x',
    'fixed bug': 'fix: fixed bug',
    'FIX(UI): y': 'fix(UI): y',
    'feature: y': 'feat: y',
    'feat:y': 'feat: y',
    'feat : y': 'feat: y',
    'feat(ui) : y': 'feat(ui): y',
    'feat(): y': 'feat: y',
    '[fix] crash': 'fix: crash',
    'bugfix - crash': 'fix: crash',
    'faet: y': 'feat: y',
    'docs!:  two blanks': 'docs!: two blanks',
    'Add login page': 'feat: Add login page',
    'Update readme': 'docs: Update readme',
    WIP: 'chore: WIP',
    '* remove old code': 'refactor: remove old code',
    'Merging is hard': 'chore: Merging is hard',
    '🎉': 'chore: 🎉',
  };
  for (const [header, expected] of Object.entries(suggestions)) {
    test(`proposes ${JSON.stringify(expected)} for ${JSON.stringify(header)} [S0-71]`, () => {
      assert.equal(judgeMessage(header)?.suggestion, expected);
    });
  }

  test('wants an empty line between the first line and the rest [S0-71]', () => {
    assert.match(judgeMessage('feat: x\nmore')?.problem ?? '', /no empty line/);
  });

  test('whatever is proposed is conventional itself, for any text [S0-71] (deep)', () => {
    const words = fc.constantFrom('feat', 'Fix', '(', ')', '[', ']', ':', '!', ' ', '-', 'x', '\t', 'ü', '：');
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(words).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const line = text.split(/\r?\n/)[0] ?? '';
        if (line.trim() !== '') assert.ok(isConventionalHeader(suggestHeader(line)), suggestHeader(line));
      }),
    );
  });

  test('a hostile message is judged in linear time [S0-71]', () => {
    for (const text of [
      `a${' '.repeat(60_000)}`,
      `feat${'('.repeat(60_000)}`,
      `[${'a'.repeat(60_000)}`,
      '- '.repeat(30_000),
    ]) {
      assert.notEqual(judgeMessage(`${text}x`), undefined);
    }
  });

  test('warns and lets the commit go on; blocking where the registry says so, before anything runs [S0-71 S0-72] (deep)', async () => {
    for (const level of ['warning', 'blocking']) {
      await withGate({ registry: inForce('commit.message.conventional', level), files: {} }, async (gate) => {
        gate.stage({ 'a.txt': 'x\n' });
        assert.deepEqual((await gate.ask({ message: 'feat: x' })).warnings, []);
        const { ok, warnings, error } = await gate.ask({ message: 'fixed bug' });
        assert.equal(ok, level === 'warning');
        const entry = warnings[0] ?? error;
        assert.equal(entry?.message, 'Commit message is not conventional: fixed bug');
        assert.equal(entry?.details?.['next'], 'write: fix: fixed bug');
        assert.equal((await gate.ask({ verb: 'push', message: 'fixed bug' })).ok, true);
      });
    }
  });
});
