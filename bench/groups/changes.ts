/**
 * What change sets cost: commands whose effects are recorded against the same commands run directly, and taking back what a
 * call did.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ToolResponse } from '@tool-runtime/protocol';
import type { Session } from '@tool-runtime/sdk';
import { openScratchRuntime } from '@tool-runtime/sdk/testing';
import type { Budget } from '../budget.ts';
import { callPlan, type Group, type GroupOptions } from '../group.ts';
import { compare, inSequence, measuredOf, timesAs } from '../measure.ts';
import { tableOf } from '../table.ts';

const DIRECT = 'shell_exec true, direct';
const RECORDED = 'shell_exec true, recorded';
const MAKE_DIRECT = 'a command makes 10,000 files, direct';
const MAKE_RECORDED = 'a command makes 10,000 files, recorded';
const INSTALL_DIRECT = 'npm ci of 10,000 files, direct';
const INSTALL_RECORDED = 'npm ci of 10,000 files, recorded';
const UNDO = 'change_undo of 100 files';
const ONE_BY_ONE = '20 files written one by one';
const TRANSACTION = '20 files written in a transaction';
const FILES = 10_000;
const UNDONE = 100;
const WRITTEN = 20;

const PACKAGES = 50;
const INSTALL = 'npm ci --offline --no-audit --no-fund --ignore-scripts';

/** Archives of packages, each with as many files as the second argument says. */
const PACK = `
import io, json, sys, tarfile
for package in range(${PACKAGES}):
    with tarfile.open(f"{sys.argv[1]}/part{package}.tgz", "w:gz") as out:
        def add(name, content):
            info = tarfile.TarInfo("package/" + name)
            info.size, info.mode = len(content), 0o644
            out.addfile(info, io.BytesIO(content))
        add("package.json", json.dumps({"name": f"part{package}", "version": "1.0.0"}).encode())
        for file in range(int(sys.argv[2]) - 1):
            add(f"lib/group{file % 10}/file{file}.js", f"module.exports = {file};\\n".encode() * (20 + file % 100))
`;

/** Nothing but files: folders of twenty small ones, as fast as they can be made. */
const MAKE = `
import os, sys
for package in range(int(sys.argv[2]) // 20):
    folder = f"{sys.argv[1]}/scope{package % 37}/package{package}"
    os.makedirs(folder, exist_ok=True)
    for file in range(20):
        with open(f"{folder}/file{file}.js", "w") as out:
            out.write(f"module.exports = {file};\\n" * (20 + file * 5))
`;

export const changes: Group = {
  name: 'changes',
  summary: 'recorded commands against direct ones; undo of 100 files; a transaction against the same calls without one',
  async run(options) {
    const registry = { file: 'bench', text: 'version: 1\nshell: { mode: sandboxed }\n' };
    const scratch = await openScratchRuntime({ registry });
    try {
      const { session, workspace } = scratch;
      writeFileSync(join(workspace, 'make.py'), MAKE);
      const starts = await compareStarts(session, options);
      const installs = await compareInstalls(session, workspace, options);
      const making = await compareMaking(session, options);
      const undo = await compareUndo(session, options);
      const parts = [starts, installs, making, undo, await compareTransactions(session, options)];
      return { tables: parts.flatMap(({ tables }) => tables), budgets: parts.flatMap(({ budgets }) => budgets) };
    } finally {
      await scratch.dispose();
    }
  },
};

interface Part {
  readonly tables: readonly ReturnType<typeof tableOf>[];
  readonly budgets: readonly Budget[];
}

async function compareStarts(session: Session, options: GroupOptions): Promise<Part> {
  const cases = [
    { name: DIRECT, run: inSequence(() => call(session, 'shell_exec', { cmd: 'true', effects: 'direct' })) },
    { name: RECORDED, run: inSequence(() => call(session, 'shell_exec', { cmd: 'true', effects: 'recorded' })) },
  ];
  const plan = { ...callPlan(options), samplesPerRound: options.quick ? 1 : 4 };
  const compared = await compare(cases, plan);
  return {
    tables: [tableOf(compared, { title: 'Starts', peers: [DIRECT], names: [DIRECT, RECORDED] })],
    budgets: [{ name: `${RECORDED}, against direct`, atMost: 1.5, unit: 'x', ...timesAs(compared, RECORDED, DIRECT) }],
  };
}

async function compareMaking(session: Session, options: GroupOptions): Promise<Part> {
  const files = options.quick ? 200 : FILES;
  let made = 0;
  const make = (effects: 'direct' | 'recorded') => () =>
    call(session, 'shell_exec', { cmd: `python3 make.py made${++made} ${files}`, effects });
  const { tables } = await compareLong('Files', [MAKE_DIRECT, MAKE_RECORDED], make, options);
  return { tables, budgets: [] };
}

/** For commands that take long enough to be timed one by one. */
async function compareLong(
  title: string,
  [direct, recorded]: readonly [string, string],
  make: (effects: 'direct' | 'recorded') => () => Promise<unknown>,
  { quick }: GroupOptions,
) {
  const cases = [
    { name: direct, run: inSequence(make('direct')) },
    { name: recorded, run: inSequence(make('recorded')) },
  ];
  const rounds = quick ? 2 : 7;
  const compared = await compare(cases, { rounds, samplesPerRound: 1, sampleMs: 0.05, warmUpMs: 0, quietMs: 0 });
  return { compared, tables: [tableOf(compared, { title, peers: [direct], names: [direct, recorded] })] };
}

/** Each into a folder of its own, from archives in the workspace. */
async function compareInstalls(session: Session, workspace: string, options: GroupOptions): Promise<Part> {
  const filesEach = options.quick ? 4 : FILES / PACKAGES;
  const template = join(workspace, 'template');
  for (const folder of [template, join(workspace, 'parts')]) mkdirSync(folder);
  execFileSync('python3', ['-c', PACK, 'parts', String(filesEach)], { cwd: workspace });
  const parts = Array.from({ length: PACKAGES }, (_, at) => [`part${at}`, `file:../parts/part${at}.tgz`]);
  const manifest = { name: 'installed', version: '1.0.0', dependencies: Object.fromEntries(parts) };
  writeFileSync(join(template, 'package.json'), JSON.stringify(manifest));
  const lock = ['install', '--package-lock-only', '--offline', '--no-audit', '--no-fund'];
  execFileSync('npm', lock, { cwd: template, stdio: 'ignore' });
  let made = 0;
  const install = (effects: 'direct' | 'recorded') => async () => {
    const cwd = `installed${++made}`;
    cpSync(template, join(workspace, cwd), { recursive: true });
    await call(session, 'shell_exec', { cmd: INSTALL, cwd, effects });
  };
  const names = [INSTALL_DIRECT, INSTALL_RECORDED] as const;
  const { compared, tables } = await compareLong('Packages', names, install, options);
  return {
    tables,
    budgets: [
      {
        name: `${INSTALL_RECORDED}, against direct`,
        atMost: 1.6,
        unit: 'x',
        ...timesAs(compared, INSTALL_RECORDED, INSTALL_DIRECT),
      },
    ],
  };
}

/** Every undo is undone again, so each call takes a hundred files back. */
async function compareUndo(session: Session, options: GroupOptions): Promise<Part> {
  const write = `mkdir undo; for i in $(seq ${UNDONE}); do echo $i > undo/$i; done`;
  let last = (await call(session, 'shell_exec', { cmd: write, effects: 'recorded' })).change_id ?? '';
  const undo = async (): Promise<void> => {
    last = (await call(session, 'change_undo', { change_id: last })).change_id ?? '';
  };
  const plan = { ...callPlan(options), samplesPerRound: options.quick ? 1 : 4, sampleMs: 0.05, warmUpMs: 0 };
  const compared = await compare([{ name: UNDO, run: inSequence(undo) }], plan);
  const measured = measuredOf(compared.cases, UNDO);
  const rounds = measured.roundMicros.map((micros) => micros / 1000);
  return {
    tables: [tableOf(compared, { title: 'Undo', peers: [], names: [UNDO] })],
    budgets: [{ name: UNDO, atMost: 50, unit: 'ms', measured: measured.medianMicros / 1000, rounds }],
  };
}

/** Both leave the same files; every round writes other content. */
async function compareTransactions(session: Session, options: GroupOptions): Promise<Part> {
  let round = 0;
  const write = async (folder: string): Promise<void> => {
    const content = `round ${++round}\n`;
    for (let file = 0; file < WRITTEN; file++) {
      await call(session, 'file_write', { path: `${folder}/${file}.txt`, content, create_dirs: true });
    }
  };
  const transaction = async (): Promise<void> => {
    await call(session, 'tx_begin', {});
    await write('together');
    await call(session, 'tx_commit', {});
  };
  const cases = [
    { name: ONE_BY_ONE, run: inSequence(() => write('apart')) },
    { name: TRANSACTION, run: inSequence(transaction) },
  ];
  const compared = await compare(cases, { ...callPlan(options), samplesPerRound: options.quick ? 1 : 4 });
  return {
    tables: [tableOf(compared, { title: 'Transactions', peers: [ONE_BY_ONE], names: [ONE_BY_ONE, TRANSACTION] })],
    budgets: [
      {
        name: `${TRANSACTION}, against one by one`,
        atMost: 2,
        unit: 'x',
        ...timesAs(compared, TRANSACTION, ONE_BY_ONE),
      },
    ],
  };
}

async function call(session: Session, tool: string, args: Record<string, string | boolean>): Promise<ToolResponse> {
  const answer = await session.call(tool, args);
  if (!answer.ok) throw new TypeError(`The benchmark was refused: ${answer.errors[0]?.message}`);
  return answer;
}
