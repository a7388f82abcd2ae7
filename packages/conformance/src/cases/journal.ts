/** Where a server keeps a journal: what happened is in it, and a change of it is noticed. */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fillText } from '../profile/fill-template.ts';
import type { Scene } from '../scene/scene.ts';
import { type Case, expect, shown } from './case.ts';
import { writesInside } from './twins.ts';

/** A command of the profile, run to its end. */
function run(scene: Scene, which: 'show' | 'verify'): { readonly status: number | null; readonly output: string } {
  const [program = '', ...args] = scene.words(scene.target.profile.journal?.[which] ?? '');
  const options = {
    cwd: scene.stage.workspace,
    env: scene.environment(),
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  } as const;
  const { status, stdout, stderr, error } = spawnSync(program, args, options);
  expect(error === undefined, `The command ${which} of the profile does not start: ${error?.message}`);
  return { status, output: `${stdout}${stderr}` };
}

function mustVerify(scene: Scene): void {
  const { status, output } = run(scene, 'verify');
  expect(status === 0, `The check of the journal fails: ${shown(output)}`);
}

async function writeMarked(scene: Scene): Promise<string> {
  const name = `recorded-${randomBytes(6).toString('hex')}.txt`;
  const { ok, text } = await scene.call('write', { path: name, content: 'recorded\n' });
  expect(ok, `The write is refused: ${shown(text)}`);
  return name;
}

async function writesAndVerifies(scene: Scene): Promise<void> {
  await writesInside(scene);
  await scene.close();
  mustVerify(scene);
}

export const journal: readonly Case[] = [
  {
    id: 'journal.records',
    needs: ['read', 'write', 'journal'],
    tries: 'makes a write that succeeds and a read that is refused, then prints the records',
    wrong: 'one of them is missing',
    why: 'What was tried and refused says most about an agent that goes astray.',
    twin: writesAndVerifies,
    async attack(scene) {
      const written = await writeMarked(scene);
      const refused = `refused-${randomBytes(6).toString('hex')}.txt`;
      await scene.call('read', { path: `../outside/${refused}` });
      await scene.close();
      const { output } = run(scene, 'show');
      expect(output.includes(written), 'A write that succeeded is not in the journal');
      expect(output.includes(refused), 'A read that was refused is not in the journal');
    },
  },
  {
    id: 'journal.tampered',
    needs: ['write', 'journal'],
    tries: 'changes one recorded name in the files of the journal, then checks it',
    wrong: 'the check finds nothing',
    why: 'A record that can be rewritten proves nothing.',
    twin: writesAndVerifies,
    async attack(scene) {
      const name = await writeMarked(scene);
      await scene.close();
      mustVerify(scene);
      const forged = name.replace('recorded', 'forgotte');
      const { workspace, state, setup } = scene.stage;
      const globs =
        scene.target.profile.journal?.files.map((glob) => fillText(glob, { workspace, state, setup })) ?? [];
      const files = globs.flatMap((glob) => globSync(glob));
      const changed = files.filter((file) => replaceIn(file, name, forged));
      expect(changed.length > 0, 'The name of the written file is in none of the files of the journal');
      const { status } = run(scene, 'verify');
      for (const file of files) replaceIn(file, forged, name);
      expect(status !== 0, `${changed.map((file) => path.basename(file)).join(', ')} was changed unnoticed`);
    },
  },
  {
    id: 'journal.crash',
    needs: ['write', 'journal'],
    tries: 'kills the server right after it answered a write, then prints and checks the records',
    wrong: 'the record of the write is missing, or the journal is damaged',
    why: 'The record is needed most when something crashed.',
    twin: writesAndVerifies,
    async attack(scene) {
      const name = await writeMarked(scene);
      await scene.kill();
      expect(run(scene, 'show').output.includes(name), 'The record of an answered write is lost');
      mustVerify(scene);
    },
  },
];

/** Same length, so that the format stays intact. Tells whether it was there. */
function replaceIn(file: string, from: string, to: string): boolean {
  const bytes = readFileSync(file);
  if (!bytes.includes(from)) return false;
  for (let at = bytes.indexOf(from); at >= 0; at = bytes.indexOf(from)) bytes.write(to, at);
  writeFileSync(file, bytes);
  return true;
}
