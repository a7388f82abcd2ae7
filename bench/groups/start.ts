/** From nothing to an answer: a bare Node, the command's version, one governed and journaled read. As built, not as source. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Group, GroupReport } from '../group.ts';
import { type Case, compare, measuredOf, type Plan, ratioOf } from '../measure.ts';
import { tableOf } from '../table.ts';

const REPOSITORY = join(import.meta.dirname, '..', '..');
const COMMAND = join(REPOSITORY, 'packages/host/bin/tool-runtime.js');
const COMPILER = join(REPOSITORY, 'node_modules/.bin/tsc');

const BARE = 'node -e 0';
const VERSION = 'tool-runtime --version';
const CALL = 'tool-runtime call file_read';

/** One spawn is long enough to be a sample. */
const THOROUGH: Plan = { rounds: 25, samplesPerRound: 1, sampleMs: 0, warmUpMs: 300, quietMs: 1000 };
const QUICK: Plan = { rounds: 2, samplesPerRound: 1, sampleMs: 0, warmUpMs: 0, quietMs: 0 };

export const start: Group = {
  name: 'start',
  summary: 'process start to answer against a bare node',
  async run({ quick }) {
    // The compiler itself knows whether there is anything to build.
    runOrThrow(COMPILER, ['-b', 'packages/host']);
    const scratch = mkdtempSync(join(tmpdir(), 'tool-runtime-start-'));
    try {
      return await measureStarts(scratch, quick ? QUICK : THOROUGH);
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  },
};

async function measureStarts(scratch: string, plan: Plan): Promise<GroupReport> {
  const workspace = join(scratch, 'workspace');
  mkdirSync(workspace);
  writeFileSync(join(workspace, 'file.txt'), 'x'.repeat(1024));
  const folders = ['--workspace', workspace, '--state', join(scratch, 'state')];
  const starts = await compare(
    [
      spawnCase(BARE, ['-e', '0']),
      spawnCase(VERSION, [COMMAND, '--version']),
      spawnCase(CALL, [COMMAND, 'call', ...folders, 'file_read', 'path=file.txt']),
    ],
    plan,
  );
  const millis = (name: string): number => measuredOf(starts.cases, name).medianMicros / 1000;
  return {
    tables: [tableOf(starts, { title: 'Process start', peers: [BARE], names: [BARE, VERSION, CALL] })],
    budgets: [
      { name: `${VERSION}, more than ${BARE}`, atMost: 60, unit: 'ms', measured: millis(VERSION) - millis(BARE) },
      { name: `${CALL}, times ${BARE}`, atMost: 2.5, unit: 'x', measured: ratioOf(starts, CALL, BARE) },
    ],
  };
}

function spawnCase(name: string, args: readonly string[]): Case {
  return {
    name,
    run(calls) {
      for (let made = 0; made < calls; made++) runOrThrow(process.execPath, args);
    },
  };
}

function runOrThrow(program: string, args: readonly string[]): void {
  const { status, stderr, stdout } = spawnSync(program, args, { cwd: REPOSITORY, encoding: 'utf8' });
  if (status !== 0) throw new TypeError(`Exit ${status}: ${program} ${args.join(' ')}\n${stdout}${stderr}`);
}
