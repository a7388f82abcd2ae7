/** The command with a small server, and what it prints without one. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { CASES } from '../src/run-suite.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'conformance-command-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const PROGRAM = `import { main } from ${JSON.stringify(path.join(import.meta.dirname, '../src/index.ts'))};
process.exitCode = await main(process.argv.slice(2), '1.2.3');`;
const program = path.join(folder, 'main.mts');
writeFileSync(program, PROGRAM);

const toy = `"${process.execPath}" "${path.join(import.meta.dirname, 'toy/toy-server.ts')}" mcp {workspace} {state}`;
const profile = path.join(folder, 'toy.json');
writeFileSync(
  profile,
  JSON.stringify({
    name: 'toy',
    tools: {
      read: { tool: 'read', args: { path: '{path}' } },
      edit: { tool: 'edit', args: { path: '{path}', old: '{old}', new: '{new}' } },
    },
  }),
);

interface End {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(...args: string[]): Promise<End> {
  const child = spawn(process.execPath, ['-C', 'tool-runtime-source', program, ...args]);
  const texts = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (texts.stdout += chunk));
  child.stderr.on('data', (chunk: Buffer) => (texts.stderr += chunk));
  const [code] = (await once(child, 'close')) as [number];
  return { code, ...texts };
}

describe('the conformance command', () => {
  test('exits with 0 when every case that applies passed, and writes JSON and a badge', async () => {
    const [json, badge] = [path.join(folder, 'result.json'), path.join(folder, 'badge.svg')];
    const only = ['--only', 'edits.b', '--only', 'journal.records'];
    const end = await run('--mcp', toy, '--profile', profile, ...only, '--json', json, '--badge', badge);
    assert.equal(end.code, 0, end.stderr);
    assert.match(end.stdout, /^passed +edits\.bytes$/m);
    assert.match(end.stdout, /^not applicable +journal\.records +needs write$/m);
    assert.match(end.stdout, /toy: 2 passed, 0 failed, 1 not applicable\n$/);
    const { results } = JSON.parse(readFileSync(json, 'utf8')) as { results: { id: string; outcome: string }[] };
    assert.deepEqual(
      results.map(({ outcome }) => outcome),
      ['passed', 'passed', 'not applicable'],
    );
    assert.match(readFileSync(badge, 'utf8'), /2 of 2/);
  });

  test('exits with 2 before it starts a server when a folder of an option is missing', async () => {
    const gone = path.join(folder, 'gone');
    for (const [option, value] of [
      ['--json', path.join(gone, 'x.json')],
      ['--badge', path.join(gone, 'x.svg')],
      ['--scratch', gone],
    ] as const) {
      const { code, stdout, stderr } = await run('--mcp', toy, '--profile', profile, option, value);
      assert.deepEqual([code, stdout], [2, ''], option);
      assert.match(stderr, new RegExp(`^${option}: .*gone`), option);
    }
  });

  test('exits with 1 when a case failed', async () => {
    const end = await run('--mcp', `${toy} edits.bom`, '--profile', profile, '--only', 'edits.bom', '--json', '-');
    assert.equal(end.code, 1, end.stderr);
    assert.equal((JSON.parse(end.stdout) as { failed: number }).failed, 1);
  });

  test('a server that refuses everything fails by the twins (deep)', async () => {
    const refusing = path.join(folder, 'refusing.mjs');
    const answer = `JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'no' }], isError: true } })`;
    writeFileSync(
      refusing,
      `import { createInterface } from 'node:readline';
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id } = JSON.parse(line);
  if (id !== undefined) console.log(${answer});
});`,
    );
    const end = await run('--mcp', `"${process.execPath}" "${refusing}"`, '--profile', profile, '--json', '-');
    assert.equal(end.code, 1, end.stderr);
    const { passed } = JSON.parse(end.stdout) as { passed: number };
    assert.equal(passed, 0);
  });

  for (const [what, args, message] of [
    ['nothing to run', [], /Nothing to run/],
    ['two servers', ['--mcp', 'a', '--envelopes', 'b'], /not both/],
    ['an unknown option', ['--mpc', 'a'], /--mpc/],
    ['an unknown case', ['--mcp', toy, '--profile', profile, '--only', 'nothing.like.it'], /--list/],
    ['an unknown profile', ['--mcp', toy, '--profile', 'missing'], /No such profile: missing/],
    ['a definition without a value', ['--mcp', toy, '--define', 'program'], /NAME=VALUE/],
    ['a program that is missing', ['--mcp', '/missing/program', '--profile', profile], /ENOENT/],
    ['no case that applies', ['--mcp', toy, '--profile', profile, '--only', 'commands.'], /maps too little/],
  ] as const) {
    test(`exits with 2 for ${what}`, async () => {
      const end = await run(...args);
      assert.equal(end.code, 2, end.stdout);
      assert.match(end.stderr, message);
    });
  }

  test('prints help, version, every case, and profiles to start from', async () => {
    const [help, version, list, shown] = await Promise.all([
      run('--help'),
      run('--version'),
      run('--list'),
      run('--show-profile', 'server-filesystem'),
    ]);
    assert.match(help.stdout, /^Usage: /);
    assert.match(version.stdout, /^1\.2\.3\n$/);
    for (const { id } of CASES) assert.ok(list.stdout.includes(`${id}  (`), id);
    assert.equal((JSON.parse(shown.stdout) as { name: string }).name, 'server-filesystem');
  });
});
