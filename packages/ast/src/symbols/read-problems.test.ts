import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createEngine } from './engine.ts';
import { readProblems } from './read-problems.ts';

const SOUND =
  "import { a } from './a.ts';\nclass K { m(x: number) { return [x, `t`]; } }\nif (a) { a(); } else { f({ b: 1 }); }\n";

test('finds what a query over the whole tree finds, wherever a text is broken [S0-63]', async (t) => {
  const engine = createEngine();
  t.after(() => engine.delete());
  const place = fc.nat({ max: SOUND.length });
  const breakage = fc.record({
    place,
    cut: fc.nat({ max: 12 }),
    put: fc.constantFrom('', '(', '}', '"', ';;', '= =', '@#'),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(breakage, { maxLength: 4 }), async (breakages) => {
      let text = SOUND;
      for (const one of breakages) text = text.slice(0, one.place) + one.put + text.slice(one.place + one.cut);
      const parsed = await engine.parse({ path: 'a.ts', language: 'typescript', bytes: Buffer.from(text) });
      try {
        const expected = parsed.parser.queries.problems.captures(parsed.tree.rootNode);
        const { problems, problemCount } = readProblems(parsed);
        assert.deepEqual(
          problems.map(({ kind, span }) => [kind, span.start, span.end]),
          expected.slice(0, 50).map(({ name, node }) => [name, node.startIndex, node.endIndex]),
        );
        assert.equal(problemCount, expected.length);
      } finally {
        parsed.delete();
      }
    }),
  );
});
