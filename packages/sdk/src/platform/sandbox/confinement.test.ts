import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { rgPath } from '@vscode/ripgrep';
import { identityOf } from '../descriptors/root.ts';
import { createSpawner } from '../processes/spawner.ts';
import { CONFINED_FOLDER, CONFINED_PROGRAM, confinedCommand, findBubblewrap } from './confinement.ts';
import { runProgram } from './run-program.ts';

const spawner = createSpawner();

const LIST = ['--no-config', '--files', '--hidden', '--no-ignore', '--'];
const TRIAL = { program: rgPath, args: [...LIST, CONFINED_PROGRAM, rgPath], output: `${CONFINED_PROGRAM}\n` };

function identityAt(path: string): string {
  return identityOf(statSync(path, { bigint: true }));
}

async function outputOf(args: readonly string[], folder: string): Promise<string[]> {
  const bubblewrap = await findBubblewrap(TRIAL, spawner);
  assert.ok(bubblewrap, 'bubblewrap works on this machine');
  const running = await runProgram(
    confinedCommand(bubblewrap, { folder, identity: identityAt(folder), program: rgPath, args }),
    { folder, spawner },
  );
  let printed = '';
  for await (const chunk of running.stdout) printed += String(chunk);
  await running.ended;
  return printed.split('\n').filter(Boolean).sort();
}

test('a confined program sees its folder and itself, and nothing else of the machine [S0-33]', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'confinement-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'file'), 'x');
  symlinkSync('/etc', join(folder, 'link'));
  assert.deepEqual(await outputOf([...LIST, './'], folder), ['./file']);
  assert.deepEqual(await outputOf([...LIST, '/'], folder), ['/program', '/workspace/file']);
  assert.deepEqual(await outputOf([...LIST, 'link/'], folder), []);
});

test('a confined program gets nothing of the environment [S0-33]', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'confinement-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'file'), 'x');
  writeFileSync(join(folder, 'settings'), '--glob=!file\n');
  const bubblewrap = await findBubblewrap(TRIAL, spawner);
  assert.ok(bubblewrap);
  const env = { RIPGREP_CONFIG_PATH: join(CONFINED_FOLDER, 'settings') };
  const listed = (args: readonly string[]): string[] => {
    const { file, args: words } = confinedCommand(bubblewrap, {
      folder,
      identity: identityAt(folder),
      program: rgPath,
      args,
    });
    return execFileSync(file, words, { env, encoding: 'utf8' }).split('\n').filter(Boolean).sort();
  };
  assert.deepEqual(listed(['--files', './']), ['./file', './settings']);
  const outside = execFileSync(rgPath, ['--files', './'], {
    cwd: folder,
    env: { RIPGREP_CONFIG_PATH: join(folder, 'settings') },
    encoding: 'utf8',
  });
  assert.equal(outside, './settings\n', 'the variable does something where it arrives');
});

test('a sandbox that does not hold is not used [S0-33]', async () => {
  assert.equal(await findBubblewrap({ ...TRIAL, output: '' }, spawner), undefined);
  assert.equal(await findBubblewrap({ ...TRIAL, args: ['--no-config', '--files', '/etc/passwd'] }, spawner), undefined);
  assert.equal(await findBubblewrap({ ...TRIAL, program: '/nonexistent/program' }, spawner), undefined);
});
