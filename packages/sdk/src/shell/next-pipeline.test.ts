import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { CommandList } from '../contracts/command-list.ts';
import { nextPipeline } from './next-pipeline.ts';
import { parseCommandLine } from './read-command.ts';

/** The order in which pipelines run when each ends with its given code. */
function planExecution(list: CommandList, exitCodes: readonly number[]): number[] {
  const order: number[] = [];
  for (;;) {
    const index = nextPipeline(
      list,
      order.map((ran) => exitCodes[ran] ?? 0),
    );
    if (index === undefined) return order;
    order.push(index);
  }
}

describe('nextPipeline', () => {
  const rows: [string, number[], number[]][] = [
    ['a', [1], [0]],
    ['a && b', [0, 0], [0, 1]],
    ['a && b', [1, 0], [0]],
    ['a || b', [0, 0], [0]],
    ['a || b', [3, 0], [0, 1]],
    ['a ; b', [1, 0], [0, 1]],
    ['a && b || c', [1, 0, 0], [0, 2]],
    ['a && b || c', [0, 1, 0], [0, 1, 2]],
    ['a || b && c', [0, 0, 0], [0, 2]],
    ['a || b && c', [1, 1, 0], [0, 1]],
    ['a && b ; c && d', [1, 0, 0, 0], [0, 2, 3]],
  ];
  for (const [line, codes, expected] of rows) {
    test(`${line} with codes ${codes.join(', ')} runs ${expected.join(', ')}`, () => {
      assert.deepEqual(planExecution(parseCommandLine(line), codes), expected);
    });
  }

  test('waits for the code of the pipeline that runs', () => {
    const list = parseCommandLine('a && b || c');
    assert.deepEqual(
      [nextPipeline(list, []), nextPipeline(list, [0]), nextPipeline(list, [1]), nextPipeline(list, [0, 0])],
      [0, 1, 2, undefined],
    );
  });

  test('runs the same sequence as bash for 800 random lists [S0-12] (deep)', () => {
    const pipeline = fc.record({
      code: fc.constantFrom(0, 0, 1, 7),
      heads: fc.array(fc.constantFrom(0, 1), { maxLength: 2 }),
    });
    const lists = fc.sample(
      fc.tuple(pipeline, fc.array(fc.tuple(fc.constantFrom('&&', '||', ';'), pipeline), { maxLength: 7 })),
      800,
    );
    const lines = lists.map(([first, rest]) => {
      const text = ({ code, heads }: { code: number; heads: number[] }, index: number) =>
        [...heads.map((head) => `quiet ${head}`), `run ${index} ${code}`].join(' | ');
      return text(first, 0) + rest.map(([operator, next], index) => ` ${operator} ${text(next, index + 1)}`).join('');
    });
    const expected = lists.map(([first, rest], at) => {
      const codes = [first.code, ...rest.map(([, { code }]) => code)];
      return planExecution(parseCommandLine(lines[at] ?? ''), codes).join(' ');
    });
    const script = `run() { printf '%s ' "$1" >&3; return "$2"; }; quiet() { return "$1"; }\nexec 3>&1 >/dev/null\n${lines
      .map((line) => `${line}\nprintf '\\n' >&3\n`)
      .join('')}`;
    const bash = spawnSync('bash', ['--norc', '--noprofile'], { input: script, env: {}, encoding: 'utf8' });
    assert.equal(bash.stderr, '');
    assert.deepEqual(
      bash.stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.trim()),
      expected,
    );
  });
});
