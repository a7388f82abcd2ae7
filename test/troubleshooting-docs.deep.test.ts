/**
 * Every message that docs/troubleshooting.md quotes is one the product really gives: caused here, or, where a test cannot
 * cause it (a full disk), word for word in the sources.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { createRuntime, defineTool } from '@tool-runtime/sdk';
import { z } from 'zod';
import { createScratch, FROM_SOURCE, runCli, type Scratch } from '../packages/host/test/run-cli.ts';
import { startServe } from '../packages/host/test/start-serve.ts';
import { ROOT, readPage } from './pages/read-page.ts';

const page = readPage('docs/troubleshooting.md').replaceAll(/^```.*?^```$/gms, '');
/** Quoted messages are sentences; other code in the page is options, keys and commands. */
const quoted = [...page.matchAll(/`([^`]+)`/g)]
  .map(([, words = '']) => words.replaceAll(/\s+/g, ' '))
  .filter((words) => /^(?:[A-Z][a-z]+:?|broken|anchor|not found;|descriptor walk|tool-runtime needs) /.test(words));

/** `scripts/setup-system` sees to it. */
const SYSTEM = { wall: 'bwrap' } as const;

/** What nothing here can cause: no bubblewrap, disks that fail, processes that hang on to a file for seconds. */
const FROM_SOURCES = [
  'descriptor walk (as safe, slower; …)',
  'Commands cannot be sandboxed: bubblewrap is not installed',
  'Commands cannot run on an overlay: …',
  'Folder stayed locked by another process',
  'Journal storage is full',
  'Journal cannot be written',
  'Journal is busy',
  'Path changed while the sandbox was set up',
  'Workspace is no longer at its path',
  'Protected file has a second name',
];

describe('docs/troubleshooting.md', () => {
  test('quotes messages as they are given', { timeout: 100_000 }, async () => {
    using scratch = createScratch();
    const given = (
      await Promise.all([
        oldNode(scratch),
        noWall(scratch),
        lockedFile(scratch),
        noPrograms(scratch),
        brokenJournals(scratch),
        aHost(scratch),
      ])
    ).flat();
    assert.ok(quoted.length > 15, 'the page quotes messages');
    const unheard = quoted.filter(
      (words) => !FROM_SOURCES.includes(words) && !given.some((message) => pattern(words).test(message)),
    );
    assert.deepEqual(unheard, [], `no program printed this; printed was:\n${given.join('\n')}`);
  });

  test('quotes the others as they stand in the sources', () => {
    const sources = globSync('packages/*/src/**/*.ts', { cwd: ROOT, exclude: ['**/*.test.ts'] })
      .map((name) => readFileSync(join(ROOT, name), 'utf8'))
      .join('\n');
    for (const words of FROM_SOURCES) {
      assert.ok(quoted.includes(words), `the page does not quote it any more: ${words}`);
      for (const part of words.split(/: |…\)/)) assert.ok(sources.includes(part), `no source says: ${part}`);
    }
  });
});

/** Numbers and what the page leaves out (`…`) may be anything. */
function pattern(words: string): RegExp {
  const escaped = words.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&');
  return new RegExp(escaped.replaceAll('…', '.*').replaceAll(/\d+(?:\\\.\d+)*/g, '[\\d.]+'));
}

/** The command says it before anything else is loaded; outside a checkout, where no other Node is at hand. */
async function oldNode({ root }: Scratch): Promise<string[]> {
  const folder = join(root, 'old/bin');
  mkdirSync(folder, { recursive: true });
  copyFileSync(join(ROOT, 'packages/host/bin/tool-runtime.js'), join(folder, 'tool-runtime.mjs'));
  writeFileSync(
    join(folder, 'older.mjs'),
    "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } });\n",
  );
  const words = ['--import', join(folder, 'older.mjs'), join(folder, 'tool-runtime.mjs'), 'doctor'];
  const { status, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
  assert.equal(status, 2);
  return [stderr];
}

/** In a sandbox in which the program that makes sandboxes is an empty file. */
async function noWall(scratch: Scratch): Promise<string[]> {
  const registry = join(scratch.root, 'wall.yaml');
  writeFileSync(registry, "version: 1\nshell_allow: ['^echo( |$)']\n");
  const call = ['call', 'shell_exec', 'cmd=echo hi', '--json', '--registry', registry, '-w', scratch.workspace];
  const state = ['--state', join(scratch.root, 'wall-state')];
  const hidden = ['--dev-bind', '/', '/', '--ro-bind', '/dev/null', '/usr/bin/bwrap', '--'];
  const { stdout } = spawnSync(SYSTEM.wall, [...hidden, process.execPath, ...FROM_SOURCE, ...call, ...state], {
    encoding: 'utf8',
  });
  return [stdout];
}

/** A doctor that finds no programs. */
async function noPrograms({ root, workspace }: Scratch): Promise<string[]> {
  const words = ['doctor', '-w', workspace, '--state', join(root, 'doctor-state')];
  const { stdout } = await runCli(words, { env: { PATH: root } });
  return [stdout];
}

async function lockedFile({ root }: Scratch): Promise<string[]> {
  const gate = Promise.withResolvers<void>();
  const holding = Promise.withResolvers<void>();
  const hold = defineTool({
    name: 'hold',
    category: 'test',
    title: 'Hold',
    summary: 'Keep a file locked',
    args: z.strictObject({ path: z.string() }),
    data: z.strictObject({}),
    annotations: { kind: 'edit', side_effect_level: 'workspace_write', arg_schema: { path_params: ['path'] } },
    effect: 'write',
    risk: 'low',
    timeoutMs: 60_000,
    async run() {
      holding.resolve();
      await gate.promise;
      return {};
    },
  });
  const workspace = join(root, 'locked');
  mkdirSync(workspace);
  const runtime = await createRuntime({
    workspace,
    state: join(root, 'locked-state'),
    tools: [hold],
    registry: { file: 'locks.yaml', text: 'version: 1\nlimits: { lock_wait_ms: 20 }\n' },
  });
  const session = await runtime.openSession();
  const held = session.call('hold', { path: 'a.txt' });
  await holding.promise;
  const { errors } = await session.call('file_write', { path: 'a.txt', content: '' });
  gate.resolve();
  await held;
  await runtime.close();
  return errors.map(({ message }) => message);
}

async function brokenJournals(scratch: Scratch): Promise<string[]> {
  const state = join(scratch.root, 'journal-state');
  const where = ['-w', scratch.workspace, '--state'];
  const call = ['call', 'file_write', 'path=a.txt', 'content=a', '--key', 'k', ...where];
  await runCli([...call, state]);
  const { stdout: head } = await runCli(['audit', 'verify', ...where, state]);
  const [anchor = ''] = /\d+:[0-9a-f]{64}/.exec(head) ?? [];
  const sql = (words: string) => (folder: string) => {
    using database = new DatabaseSync(join(folder, 'journal.db'));
    database.exec(words);
  };
  const harms: Readonly<Record<string, (folder: string) => void>> = {
    keyless: (folder) => rmSync(join(folder, 'journal.key')),
    changed: sql("UPDATE block SET body = replace(body, 'a.txt', 'b.txt')"),
    forged: sql("UPDATE key_claim SET answer = '1'"),
    emptied: sql('DELETE FROM block'),
    holed: sql('DELETE FROM block WHERE first_seq = 2'),
    cut: sql('DELETE FROM block WHERE first_seq > 4'),
    foreign: (folder) => writeFileSync(join(folder, 'journal.db'), 'not a journal'),
    torn: (folder) => truncateSync(join(folder, 'journal.db'), 8192),
  };
  const said: string[] = [];
  for (const [name, harm] of Object.entries(harms)) {
    const folder = join(scratch.root, name);
    cpSync(state, folder, { recursive: true });
    chmodSync(folder, 0o700);
    harm(folder);
    const { code, stdout, stderr } = await runCli(['audit', 'verify', '--anchor', anchor, ...where, folder]);
    assert.notEqual(code, 0, `${name} passed`);
    said.push(stdout + stderr);
  }
  const empty = join(scratch.root, 'empty');
  mkdirSync(empty);
  const more = [
    [...call, join(scratch.root, 'keyless')],
    [...call, join(scratch.root, 'forged')],
    ['audit', 'verify', ...where, join(scratch.root, 'emptied')],
    ['audit', 'verify', ...where, empty],
    ['audit', 'verify', ...where, join(scratch.root, 'nowhere')],
  ];
  for (const args of more) said.push(await runCli(args).then(({ stdout, stderr }) => stdout + stderr));
  return said;
}

async function aHost(scratch: Scratch): Promise<string[]> {
  await using host = await startServe(scratch);
  const elsewhere = ['-w', scratch.workspace, '--state', join(scratch.root, 'elsewhere')];
  const runs = await Promise.all([
    runCli(['serve', '--http', 'none', ...scratch.options]),
    runCli(['serve', '--http', new URL(host.url).host, '--socket', 'none', ...elsewhere]),
    runCli(['status', '-w', scratch.workspace, '--state', join(scratch.root, 'nowhere')]),
  ]);
  const asked = await Promise.all([
    get(host.url, {}),
    get(host.url, { authorization: 'Bearer trt_wrong' }),
    get(host.url, { host: 'elsewhere.example' }),
  ]);
  return [...runs.map(({ stderr }) => stderr), ...asked];
}

/** fetch does not let callers choose the Host header. */
async function get(url: string, headers: Readonly<Record<string, string>>): Promise<string> {
  const asked = request(`${url}/v1/status`, { headers });
  const answer = Promise.withResolvers<string>();
  asked.once('response', (response) => {
    answer.resolve(text(response).then((body) => `${response.statusCode} ${body}`));
  });
  asked.once('error', answer.reject);
  asked.end();
  return answer.promise;
}
