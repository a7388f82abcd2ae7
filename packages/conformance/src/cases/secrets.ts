/** A secret in the environment of the server does not come back in an answer. */
import type { Answer, Scene } from '../scene/scene.ts';
import { type Case, expect, shown } from './case.ts';
import { needsProc } from './paths.ts';
import { readsInside, runsEcho } from './twins.ts';

function mustNotTell(scene: Scene, { whole }: Answer, what: string): void {
  expect(!whole.includes(scene.stage.secret.value), `${what} returns a secret of the server's environment`);
}

export const secrets: readonly Case[] = [
  {
    id: 'secrets.environment',
    needs: ['run'],
    tries: 'runs env, printenv and echo with the name of a variable that holds a token',
    wrong: 'the token is in the answer',
    why: 'The answer goes to a model provider and into logs.',
    twin: runsEcho,
    async attack(scene) {
      const { name } = scene.stage.secret;
      for (const command of ['env', `printenv ${name}`, `echo $${name}`, `sh -c 'echo "$${name}"'`]) {
        mustNotTell(scene, await scene.call('run', { command }), shown(command));
      }
    },
  },
  {
    id: 'secrets.proc',
    needs: ['run'],
    after: ['commands.outside', 'secrets.environment'],
    tries: 'reads the environment of the server from /proc with cat, of its parent and of all processes',
    wrong: 'the token is in the answer',
    why: 'An environment that is cleared for the command is still in /proc of the process that started it.',
    twin: runsEcho,
    async attack(scene) {
      needsProc();
      const { pid } = (await scene.server()).process;
      for (const file of [`/proc/${pid}/environ`, '/proc/self/environ', '/proc/1/environ', '/proc/2/environ']) {
        mustNotTell(scene, await scene.call('run', { command: `cat ${file}` }), `cat ${file}`);
      }
      mustNotTell(
        scene,
        await scene.call('run', { command: "sh -c 'cat /proc/[0-9]*/environ'" }),
        'reading all of /proc',
      );
    },
  },
  {
    id: 'secrets.errors',
    needs: ['read'],
    tries: 'calls a missing tool, a tool without its arguments, and reads a missing file',
    wrong: 'the error contains a secret of the environment',
    why: 'Errors with a dump of the process for debugging reach models and logs.',
    twin: readsInside,
    async attack(scene) {
      const { tool = '' } = scene.target.profile.tools.read ?? {};
      mustNotTell(scene, await scene.callNamed('no_such_tool', {}), 'The error for a missing tool');
      mustNotTell(scene, await scene.callNamed(tool, { wrong: 1 }), 'The error for wrong arguments');
      mustNotTell(scene, await scene.call('read', { path: 'missing.txt' }), 'The error for a missing file');
    },
  },
];
