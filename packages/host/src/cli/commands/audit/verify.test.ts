import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { createRuntime } from '@tool-runtime/sdk';
import { type CliRun, createScratch, FROM_SOURCE, runCli, type Scratch } from '../../../../test/run-cli.ts';

const READING = [
  ['verify'],
  ['verify', '--archives'],
  ['list'],
  ['export'],
  ['tree'],
  ['tail', '--no-follow'],
  ['show', '1', '--archived'],
];

/** Programs of the system, which no package brings. */
const SYSTEM = { sandbox: 'bwrap' } as const;

const audit = (scratch: Scratch, ...args: readonly string[]): Promise<CliRun> =>
  runCli(['audit', ...args, ...scratch.options]);

/** A journal with a keyed call, an archive and a process that ended. */
async function fill(scratch: Scratch): Promise<void> {
  const runtime = await createRuntime({ workspace: scratch.workspace, state: scratch.state });
  const session = await runtime.openSession();
  await session.call('file_write', { path: 'a', content: 'one' }, { idempotencyKey: 'k' });
  await runtime.rotateJournal({ keepRecords: 0 });
  await session.call('file_read', { path: 'a' });
  await runtime.close();
}

function edit({ state }: Scratch, sql: string): void {
  const database = new DatabaseSync(join(state, 'journal.db'));
  database.exec(sql);
  database.close();
}

const archiveIn = ({ state }: Scratch): string =>
  join(state, readdirSync(state).find((name) => name.endsWith('.gz')) ?? 'none');

describe('tool-runtime audit verify', () => {
  const changes: Readonly<Record<string, [change: (scratch: Scratch) => void, message: RegExp]>> = {
    'no state folder': [({ state }) => rmSync(state, { recursive: true }), /^broken: There is no state folder: /],
    'a file in place of the folder': [
      ({ state }) => {
        rmSync(state, { recursive: true });
        writeFileSync(state, '');
      },
      /^broken: There is no state folder: /,
    ],
    'an empty folder': [
      ({ state }) => {
        rmSync(state, { recursive: true });
        mkdirSync(state);
      },
      /^broken: There is no journal in this folder: /,
    ],
    'no database': [({ state }) => rmSync(join(state, 'journal.db')), /^broken: journal\.db is missing: /],
    'an empty database': [({ state }) => truncateSync(join(state, 'journal.db')), /^broken: journal\.db is empty: /],
    'no key': [({ state }) => rmSync(join(state, 'journal.key')), /^broken: journal\.key is missing: /],
    'a cut key': [({ state }) => truncateSync(join(state, 'journal.key'), 31), /^broken: journal\.key has the wrong/],
    'no database but a letter': [
      ({ state }) => writeFileSync(join(state, 'journal.db'), 'Dear auditor, '.repeat(500)),
      /^broken: Journal is not a database: /,
    ],
    'emptied blocks and archives': [
      (scratch) => edit(scratch, 'DELETE FROM block; DELETE FROM archive'),
      /^broken: emptied: there is no record/,
    ],
    'no archive': [(scratch) => rmSync(archiveIn(scratch)), /^broken at record 1: archive journal-\S+ is missing/m],
    'a forged answer': [
      (scratch) => edit(scratch, `UPDATE key_claim SET answer = replace(answer, 'completed', 'cancelled')`),
      /^broken: claims: the claim of call \S+ was changed/m,
    ],
    'a deleted claim': [
      (scratch) => edit(scratch, 'DELETE FROM key_claim'),
      /^broken: claims: there are 0 claims where the chain has 1/m,
    ],
  };

  for (const [name, [change, message]] of Object.entries(changes)) {
    test(`ends with 1 and says what is wrong and what to do: ${name} [S1-41] (deep)`, async () => {
      using scratch = createScratch();
      await fill(scratch);
      assert.equal((await audit(scratch, 'verify', '--archives')).code, 0);
      change(scratch);
      for (const options of [[], ['--archives']]) {
        const { code, stdout } = await audit(scratch, 'verify', ...options);
        assert.equal(code, 1, stdout);
        assert.match(stdout, message);
        assert.match(stdout, /^ {2}next: /m);
      }
      const json = JSON.parse((await audit(scratch, 'verify', '--json')).stdout);
      assert.deepEqual([json.ok, typeof json.broken.reason, typeof json.next], [false, 'string', 'string']);
    });
  }

  test('a mistyped --state is no journal, and is not made one (deep)', async () => {
    using scratch = createScratch();
    await fill(scratch);
    const typo = join(scratch.root, 'sttae');
    for (const command of READING) {
      const { code } = await runCli(['audit', ...command, '--workspace', scratch.workspace, '--state', typo]);
      assert.equal(code, 1, command.join(' '));
      assert.equal(existsSync(typo), false);
    }
  });

  test('a workspace that was never used has no journal; one that is new has one without records', async () => {
    using scratch = createScratch();
    const never = await audit(scratch, 'verify');
    assert.deepEqual([never.code, existsSync(scratch.state)], [1, false]);
    await (await createRuntime({ workspace: scratch.workspace, state: scratch.state })).close();
    const { code, stdout } = await audit(scratch, 'verify');
    assert.equal(code, 0);
    assert.match(stdout, /^ok 0 records, head 0:/);
  });

  test('says in one sentence what it cannot detect, in words and in JSON', async () => {
    using scratch = createScratch();
    await fill(scratch);
    const { stdout } = await audit(scratch, 'verify');
    const sentence = stdout.trimEnd().split('\n').at(-1) ?? '';
    assert.match(
      sentence,
      /^No witness: without a head kept outside of the state folder .* cannot detect [^.]*journal\.key[^.]*\.$/,
    );
    assert.equal(JSON.parse((await audit(scratch, 'verify', '--json')).stdout).undetectable, sentence);
  });
});

describe('reading verbs of audit', () => {
  /** All of them open the journal alike, so one is enough for the rarer states of a folder. */
  const commandsFor = (name: string) => (name === 'clean' ? READING : [['verify', '--archives']]);

  /** Names and bytes of what lies in the folder. */
  const contents = (folder: string): readonly string[] =>
    readdirSync(folder, { recursive: true, withFileTypes: true }).map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return `${path} ${entry.isFile() && !path.endsWith('-shm') ? readFileSync(path, 'hex') : ''}`;
    });

  /** After a clean end, after a kill, and as a copy without the shared memory file. */
  async function folders(scratch: Scratch): Promise<Readonly<Record<string, string>>> {
    await fill(scratch);
    const copy = (name: string): string => {
      const folder = join(scratch.root, name);
      cpSync(scratch.state, folder, { recursive: true });
      return folder;
    };
    const clean = copy('clean');
    const runtime = await createRuntime({ workspace: scratch.workspace, state: scratch.state });
    await (await runtime.openSession()).call('file_read', { path: 'a' });
    const [killed, copied] = [copy('killed'), copy('copied')];
    rmSync(join(copied, 'journal.db-shm'));
    edit(scratch, 'PRAGMA wal_checkpoint(TRUNCATE)');
    const unlogged = copy('unlogged');
    rmSync(join(unlogged, 'journal.db-wal'));
    await runtime.close();
    const torn = join(scratch.root, 'torn');
    cpSync(killed, torn, { recursive: true });
    truncateSync(join(torn, 'journal.db-shm'));
    return { clean, killed, copied, unlogged, torn };
  }

  test('create nothing and change nothing [S1-41] (deep)', async () => {
    using scratch = createScratch();
    for (const [name, state] of Object.entries(await folders(scratch))) {
      const before = contents(state);
      for (const command of commandsFor(name)) {
        const { code, stderr } = await audit({ ...scratch, options: ['--state', state] }, ...command);
        assert.equal(code, 0, `${name}: ${command.join(' ')}: ${stderr}`);
        assert.deepEqual(contents(state), before, `${name}: ${command.join(' ')}`);
      }
    }
  });

  test('work on read-only media [S1-41] (deep)', async () => {
    using scratch = createScratch();
    for (const [name, state] of Object.entries(await folders(scratch))) {
      for (const command of commandsFor(name)) {
        const args = [process.execPath, ...FROM_SOURCE, 'audit', ...command, '--state', state];
        const wall = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/dev/shm'];
        const output = execFileSync(SYSTEM.sandbox, [...wall, ...args], {
          encoding: 'utf8',
          env: { ...process.env, NODE_TEST_CONTEXT: undefined, TMPDIR: '/dev/shm' },
        });
        if (command[0] === 'verify') assert.match(output, /^ok \d+ records/m, `${name}: ${command.join(' ')}`);
      }
    }
  });

  test('work on a full disk [S1-41] (deep)', async () => {
    using scratch = createScratch();
    for (const state of Object.values(await folders(scratch))) {
      const script = 'cp -r "$1" /mnt/state && { cat /dev/zero > /mnt/fill; } 2>/dev/null; shift; exec "$@"';
      const command = [process.execPath, ...FROM_SOURCE, 'audit', 'verify', '--archives', '--state', '/mnt/state'];
      const wall = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--size', '2000000', '--tmpfs', '/mnt'];
      const args = [...wall, '--tmpfs', '/dev/shm', 'sh', '-c', script, 'sh', String(state), ...command];
      const env = { ...process.env, NODE_TEST_CONTEXT: undefined, TMPDIR: '/dev/shm' };
      assert.match(execFileSync(SYSTEM.sandbox, args, { encoding: 'utf8', env }), /^ok \d+ records/m);
    }
  });
});

test('audit verify fails when its witness file is missing, and passes when it is there', async () => {
  using scratch = createScratch();
  const witness = join(scratch.root, 'witness.log');
  assert.equal((await runCli(['call', 'fs_list', 'glob=*', '--witness', witness, ...scratch.options])).code, 0);
  assert.equal((await audit(scratch, 'verify', '--witness', witness)).code, 0);
  const { code, stdout } = await audit(scratch, 'verify', '--witness', `${witness}-mistyped`);
  assert.equal(code, 1);
  assert.match(stdout, /There is no witness file: .*-mistyped/);
});
