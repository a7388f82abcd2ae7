/**
 * One hunk in a file of 10,000 lines, governed, against the programs people use for it.
 *
 * Every case goes back and forth between two contents, so each call finds what it expects and changes something.
 */
import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type BenchRuntime, openBenchRuntime } from '../bench-runtime.ts';
import { callPlan, type Group } from '../group.ts';
import { type Case, compare, inSequence, timesFaster } from '../measure.ts';
import { noJournal } from '../no-journal.ts';
import { tableOf } from '../table.ts';

const LINES = Array.from({ length: 10_000 }, (_, index) =>
  `export const value${index} = compute(${index});`.padEnd(50),
);
const CHANGED = 5_000;
const NEW_LINE = 'export const changed = true;'.padEnd(50);
const GIT = 'git apply (spawn)';
const PATCH = 'patch (spawn)';
const GOVERNED = 'file_patch, journal normal';

/** As `diff -u` writes it, with the stated line off by `moved`. */
function diffOf(from: string, to: string, moved: number): string {
  const [start, context] = [CHANGED - 3, (index: number) => ` ${LINES[index]}\n`];
  const above = [start, start + 1, start + 2].map(context).join('');
  const below = [CHANGED + 1, CHANGED + 2, CHANGED + 3].map(context).join('');
  const line = start + 1 + moved;
  return `--- a/file\n+++ b/file\n@@ -${line},7 +${line},7 @@\n${above}-${from}\n+${to}\n${below}`;
}

export const patch: Group = {
  name: 'patch',
  summary: 'one hunk in a file of 10,000 lines against git apply and patch',
  async run(options) {
    const oldLine = LINES[CHANGED] ?? '';
    const files = {
      file: `${LINES.join('\n')}\n`,
      'there.diff': diffOf(oldLine, NEW_LINE, 0),
      'back.diff': diffOf(NEW_LINE, oldLine, 0),
    };
    // One workspace for each case, because each is at its own turn of the two contents.
    const runtimes = {
      git: await openBenchRuntime({ journal: noJournal(), files }),
      patch: await openBenchRuntime({ journal: noJournal(), files }),
      off: await openBenchRuntime({ journal: noJournal(), files }),
      normal: await openBenchRuntime({ durability: 'normal', files }),
      moved: await openBenchRuntime({ durability: 'normal', files }),
    };
    try {
      const compared = await compare(cases(runtimes), callPlan(options));
      return {
        tables: [tableOf(compared, { title: 'One hunk', peers: [GIT, PATCH], names: [...compared.cases.keys()] })],
        budgets: [
          {
            name: 'journaled file_patch, one hunk in 10,000 lines, times faster than git apply',
            atLeast: 3,
            unit: 'x',
            ...timesFaster(compared, GOVERNED, GIT),
          },
        ],
      };
    } finally {
      for (const runtime of Object.values(runtimes)) await runtime.dispose();
    }
  },
};

type Runtimes = Readonly<Record<'git' | 'patch' | 'off' | 'normal' | 'moved', BenchRuntime>>;

function cases({ git, patch, off, normal, moved }: Runtimes): Case[] {
  const oldLine = LINES[CHANGED] ?? '';
  const diffs = (by: number) => [diffOf(oldLine, NEW_LINE, by), diffOf(NEW_LINE, oldLine, by)];
  return [
    { name: GIT, run: spawned(git.workspace, 'git', (diff) => ['apply', diff]) },
    { name: PATCH, run: spawned(patch.workspace, 'patch', (diff) => ['-s', '-p1', '-i', diff]) },
    { name: 'read and write the file, no patch', run: inSequence(() => rewrite(off.workspace)) },
    { name: 'file_patch, no journal', run: governed(off, diffs(0)) },
    { name: GOVERNED, run: governed(normal, diffs(0)) },
    { name: 'file_patch, journal normal, line off by 40', run: governed(moved, diffs(40)) },
  ];
}

function governed(runtime: BenchRuntime, diffs: readonly string[]): Case['run'] {
  let turn = 0;
  return inSequence(() => runtime.call('file_patch', { path: 'file', unified_diff: diffs[turn++ % 2] }));
}

function spawned(cwd: string, program: string, args: (diff: string) => readonly string[]): Case['run'] {
  let turn = 0;
  return (calls) => {
    for (let made = 0; made < calls; made++) {
      const diff = turn++ % 2 === 0 ? 'there.diff' : 'back.diff';
      const { status, stderr } = spawnSync(program, args(diff), { cwd, encoding: 'utf8' });
      if (status !== 0) throw new TypeError(`The benchmark failed: ${program}: ${stderr}`);
    }
  };
}

async function rewrite(workspace: string): Promise<void> {
  await writeFile(join(workspace, 'plain'), await readFile(join(workspace, 'file')));
}
