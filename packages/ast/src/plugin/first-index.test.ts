import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openCodeRuntime } from '../../test/code-runtime.ts';
import { live, scratchIndex } from '../../test/scratch-index.ts';
import { FirstIndex, type FirstIndexWait } from './first-index.ts';

const MANY = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`src/f${n}.ts`, `export const n${n} = ${n};\n`]));

interface Answer {
  readonly nodes: readonly { readonly name: string }[];
  readonly as_of: string;
}

function waiting(more: Partial<FirstIndexWait> = {}): FirstIndexWait {
  return { signal: live(), patienceMs: undefined, onProgress: () => undefined, ...more };
}

describe('the first index', () => {
  test('is made once for all calls that wait, with progress for each', async (t) => {
    const { index } = scratchIndex(t, MANY);
    const first = new FirstIndex();
    const seen: number[][] = [[], []];
    const states = await Promise.all(
      seen.map((mine) => first.wait(index, {}, waiting({ onProgress: (done) => mine.push(done) }))),
    );
    assert.deepEqual(
      states.map(({ report }) => report?.parsed),
      [40, 40],
    );
    for (const mine of seen) assert.equal(mine.at(-1), 40);
  });

  test('goes on after a call that did not wait for all of it', async (t) => {
    const { index } = scratchIndex(t, MANY);
    const first = new FirstIndex();
    const { report } = await first.wait(index, {}, waiting({ patienceMs: 0 }));
    assert.equal(report, undefined);
    assert.equal((await first.wait(index, {}, waiting())).report?.files, 40);
    assert.equal(index.isGenerated(), true);
  });

  test('ends with the last call that waits, and is begun again by the next', async (t) => {
    const { index } = scratchIndex(t, MANY);
    const first = new FirstIndex();
    const [one, other] = [new AbortController(), new AbortController()];
    const reason = new Error('no more');
    const waits = [one, other].map(({ signal }) => first.wait(index, {}, waiting({ signal })));
    const ends = Promise.allSettled(waits);
    one.abort(reason);
    other.abort(reason);
    for (const end of await ends) assert.equal(end.status === 'rejected' && end.reason, reason);
    await first.close();
    assert.equal(index.isGenerated(), false);
    assert.equal((await first.wait(index, {}, waiting())).report?.files, 40);
  });

  test('a question answers with what is there so far and says what is missing [S0-53]', async () => {
    await using code = await openCodeRuntime(MANY, { ast: { firstAnswerMs: 0 } });
    await code.ask('ast_query', { where: { file_glob: 'src/f0.ts' } });
    const asked = await code.call('ast_query', { where: { type: 'const' } });
    assert.equal(asked.ok, true);
    const [warning] = asked.warnings ?? [];
    assert.equal(warning?.details?.['reason'], 'indexing');
    assert.match(warning?.message ?? '', /^Index is being made and holds /);
    assert.ok((asked.data as unknown as Answer).nodes.length < 40);
    const whole = await code.ask<Answer>('ast_query', { where: { name_like: 'n39' }, view: 'references' });
    assert.equal(whole.nodes.length, 1);
    const later = await code.call('ast_query', { where: { type: 'const' } });
    assert.deepEqual(later.warnings ?? [], []);
    assert.equal((later.data as unknown as Answer).nodes.length, 40);
  });

  test('a question waits for all of it as long as it has no answer', async () => {
    await using code = await openCodeRuntime(MANY, { ast: { firstAnswerMs: 0 } });
    const asked = await code.call('ast_query', { where: { name_like: 'n39' } });
    assert.deepEqual([asked.warnings ?? [], (asked.data as unknown as Answer).nodes.length], [[], 1]);
  });

  test('is not made for a question about one file, whatever else the question says', async () => {
    await using code = await openCodeRuntime({ ...MANY, 'a.ts': "import './src/f1';\nexport function a() { b(); }\n" });
    const messages: string[] = [];
    code.session.listen(({ message }) => {
      if (message.event === 'TaskProgress') messages.push(message.progress.message);
    });
    const where = { file_glob: 'a.ts' };
    for (const view of ['nodes', 'source', 'outline'] as const) {
      const { nodes } = await code.ask<Answer>('ast_query', { where: { ...where, type: 'fn' }, view });
      assert.deepEqual(
        nodes.map(({ name }) => name),
        ['a'],
        view,
      );
    }
    const found = await code.ask<{ matches: readonly object[] }>('ast_query', {
      ...{ where: { ...where, language: 'typescript' }, view: 'matches', pattern: 'b()' },
    });
    assert.equal(found.matches.length, 1);
    await code.ask('ast_query', { where, view: 'imports' });
    assert.deepEqual(messages, []);
  });

  test('reads generated and copied files last, and leaves them out first', async (t) => {
    const { index } = scratchIndex(t, {
      'dist/a.js': 'const a = 1;\n',
      'src/b.ts': 'const b = 1;\n',
      'src/b.d.ts': 'declare const b: 1;\n',
      'src/z_pb2.py': 'z = 1\n',
      'vendor/c.go': 'package c\n',
    });
    assert.deepEqual([(await index.generate({ maxFiles: 1 })).files, index.files()], [1, ['src/b.ts']]);
    assert.equal((await index.generate()).files, 5);
  });
});
