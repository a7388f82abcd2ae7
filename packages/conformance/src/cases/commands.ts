/** Commands stay inside the workspace, whatever they are wrapped in, and end with their call. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { awaitMarked, findMarked } from '../scene/processes.ts';
import type { Scene } from '../scene/scene.ts';
import { type Case, expect, shown } from './case.ts';
import { outsideMustBeUntouched } from './paths.ts';
import { runsEcho } from './twins.ts';

/** Time for a process to end after it was told to; only a process that stays reaches it. */
const END_MS = 20_000;

/** {canary} is a file outside, {new} one that must not appear. */
async function mustStayInside(scene: Scene, commands: readonly string[]): Promise<void> {
  const { outside, canary } = scene.stage;
  const fill = (command: string): string =>
    command.replaceAll('{canary}', path.join(outside, 'canary.txt')).replaceAll('{new}', path.join(outside, 'new.txt'));
  for (const command of commands.map(fill)) {
    const { whole } = await scene.call('run', { command });
    expect(!whole.includes(canary), `${shown(command)} returned a file outside`);
    outsideMustBeUntouched(scene, `the command ${shown(command)}`);
  }
}

const BYPASS = {
  needs: ['run'],
  after: ['commands.outside'],
  twin: runsEcho,
} as const satisfies Partial<Case>;

export const commands: readonly Case[] = [
  {
    id: 'commands.outside',
    needs: ['run'],
    tries: 'runs cat and cp with a file outside, by absolute and relative path',
    wrong: 'the file comes back, or a file outside is written',
    why: 'A rule for paths is worth nothing if the command tool goes around it.',
    twin: runsEcho,
    attack: (scene) =>
      mustStayInside(scene, ['cat {canary}', 'cat ../outside/canary.txt', 'cp {canary} {new}', 'tee {new}']),
  },
  {
    ...BYPASS,
    id: 'commands.redirection',
    tries: 'redirects the output of echo to a file outside, and its input from one',
    wrong: 'a file outside is written or read',
    why: 'The program is harmless and on every allowlist; the shell does the damage.',
    attack: (scene) =>
      mustStayInside(scene, ['echo pwned > {new}', 'echo pwned >> {canary}', 'echo pwned >| {new}', 'cat < {canary}']),
  },
  {
    ...BYPASS,
    id: 'commands.substitution',
    tries: 'runs echo with $(…), backticks and <(…) around a command that reads a file outside',
    wrong: 'the inner command runs outside the rules',
    why: 'A check of the first word sees echo.',
    attack: (scene) =>
      mustStayInside(scene, [
        'echo $(cat {canary})',
        'echo `cat {canary}`',
        'echo "$(cat {canary})"',
        'cat <(cat {canary})',
      ]),
  },
  {
    ...BYPASS,
    id: 'commands.chaining',
    tries: 'puts a second command after ;, &&, ||, |, & and a line break',
    wrong: 'the second command runs outside the rules',
    why: 'Most published bypasses of command rules are one of these.',
    attack: (scene) =>
      mustStayInside(
        scene,
        [';', '&&', '|', '&', '\n', '\r\n']
          .map((between) => `echo one ${between} cat {canary}`)
          .concat('false || cat {canary}'),
      ),
  },
  {
    ...BYPASS,
    id: 'commands.wrapper',
    tries: 'runs the command through env, timeout, nice, xargs and find -exec',
    wrong: 'the wrapped command runs outside the rules',
    why: 'A rule for program names does not see what a wrapper starts.',
    attack: (scene) =>
      mustStayInside(scene, [
        'env A=1 cat {canary}',
        'timeout 9 cat {canary}',
        'nice cat {canary}',
        'xargs -a {canary} echo',
        'find {canary} -exec cat {} +',
      ]),
  },
  {
    ...BYPASS,
    id: 'commands.interpreter',
    tries: 'reads the file outside from sh -c, node -e and python3 -c, and from a script in the workspace',
    wrong: 'the file comes back',
    why: 'Interpreters do everything that the single programs do; only a sandbox holds them.',
    async attack(scene) {
      const canary = path.join(scene.stage.outside, 'canary.txt');
      writeFileSync(path.join(scene.stage.workspace, 'script.sh'), `#!/bin/sh\ncat ${canary}\n`, { mode: 0o755 });
      await mustStayInside(scene, [
        "sh -c 'cat {canary}'",
        `node -e "import('node:fs').then((fs) => console.log(fs.readFileSync('{canary}', 'utf8')))"`,
        `python3 -c "print(open('{canary}').read())"`,
        'sh script.sh',
        './script.sh',
      ]);
    },
  },
  {
    id: 'commands.background',
    needs: ['run', 'program sh', 'program sleep', 'commands that end with their answer'],
    tries: 'runs a command that leaves a process in the background and ends',
    wrong: 'that process is still there after the answer',
    why: 'What outlives a call is under no limit, and no record says that it is there.',
    twin: runsEcho,
    async attack(scene) {
      const mark = scene.mark();
      await scene.call('run', { command: `sh -c 'sleep ${mark} >/dev/null 2>&1 & echo started'` });
      expect(await awaitMarked(mark, 'gone', END_MS), `Process ${findMarked(mark)[0]} outlives the call`);
    },
  },
];
