import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseAnalysis } from '../parse-analysis.ts';
import { relativeTo } from '../workspace-path.ts';

const context = { toRelative: relativeTo('/srv/project') };

function match(more: object = {}): object {
  return {
    text: 'f(x)',
    range: { byteOffset: { start: 11, end: 15 }, start: { line: 1, column: 5 }, end: { line: 1, column: 9 } },
    file: 'a b.ts',
    lines: '"😀"; f(x)',
    ruleId: 'no-f',
    severity: 'warning',
    note: 'use g',
    message: 'no f',
    ...more,
  };
}

const parse = (...matches: readonly object[]) => parseAnalysis('ast-grep-json', JSON.stringify(matches), context);

describe('ast-grep JSON', () => {
  test('becomes findings with UTF-16 columns, as a list and as a stream alike [S0-56]', async () => {
    const matches = [match(), match({ ruleId: 'other', severity: 'hint', message: '', note: null })];
    const list = await parse(...matches);
    assert.deepEqual(list.findings[0], {
      provider: 'ast-grep',
      rule: 'no-f',
      level: 'warning',
      message: 'no f\nuse g',
      file: 'a b.ts',
      line: 2,
      col: 7,
      endLine: 2,
      endCol: 11,
      span: { start: 11, end: 15 },
    });
    assert.deepEqual([list.findings[1]?.level, list.findings[1]?.message], ['note', 'other']);
    const stream = matches.map((one) => `${JSON.stringify(one)}\n`).join('');
    assert.deepEqual(await parseAnalysis('ast-grep-json', stream, context), list);
  });

  test('a stream without matches is empty and no fault', async () => {
    assert.deepEqual(await parseAnalysis('ast-grep-json', '', context), { findings: [], notes: [] });
    await assert.rejects(parseAnalysis('ast-grep-json', 'Error: nothing', context), { code: 'E_VALIDATION_FAIL' });
  });

  test('a fix replaces what was matched, or the bytes it names when these are others [S0-56]', async () => {
    const same = await parse(match({ replacement: 'g(x)', replacementOffsets: { start: 11, end: 15 } }));
    assert.deepEqual(same.findings[0]?.fix?.edits, [
      { file: 'a b.ts', startLine: 2, startCol: 7, endLine: 2, endCol: 11, newText: 'g(x)' },
    ]);
    const wider = match({ replacement: '', replacementOffsets: { start: 9, end: 15 } });
    const lost = await parse(wider);
    assert.deepEqual([lost.findings[0]?.fix, lost.notes[0]?.kind], [undefined, 'fix']);
    const readSource = () => Buffer.from('ab\n"😀"; f(x)\n');
    const found = await parseAnalysis('ast-grep-json', JSON.stringify([wider]), { ...context, readSource });
    assert.deepEqual(found.findings[0]?.fix?.edits[0]?.startCol, 5);
  });

  test('a plain search has neither rule nor level', async () => {
    const { ruleId: _, severity: __, message: ___, ...plain } = match({ note: undefined }) as Record<string, unknown>;
    const { findings } = await parse(plain);
    assert.deepEqual([findings[0]?.rule, findings[0]?.level, findings[0]?.message], ['pattern', 'note', 'pattern']);
  });
});
