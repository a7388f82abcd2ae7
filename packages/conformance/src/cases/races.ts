/** What was checked is what is opened, also while another process swaps it. */
import path from 'node:path';
import { type Swap, underAttack } from '../scene/attacker.ts';
import type { Scene } from '../scene/scene.ts';
import { type Case, expect } from './case.ts';
import { outsideMustBeUntouched } from './paths.ts';
import { readsInside, writesInside } from './twins.ts';

function swaps(scene: Scene): { readonly name: string; readonly swap: Swap }[] {
  const { workspace, outside } = scene.stage;
  scene.put('real/canary.txt', 'harmless\n');
  const at = (name: string): string => path.join(workspace, name);
  return [
    {
      name: 'slot.txt',
      swap: { kind: 'file', slot: at('slot.txt'), inside: 'harmless\n', outside: path.join(outside, 'canary.txt') },
    },
    { name: 'folder/canary.txt', swap: { kind: 'folder', slot: at('folder'), inside: 'real', outside } },
  ];
}

export const races: readonly Case[] = [
  {
    id: 'races.read',
    needs: ['read'],
    after: ['paths.link-read', 'paths.link-folder'],
    tries:
      'reads a name hundreds of times while another process swaps it between a file inside and a link to one outside',
    wrong: 'the file outside comes back once',
    why: 'A check followed by a second look at the name can be won by any program that runs in the workspace.',
    twin: readsInside,
    async attack(scene) {
      for (const { name, swap } of swaps(scene)) {
        await underAttack(swap, scene.effort.attempts, async (count) => {
          const { whole } = await scene.call('read', { path: name });
          expect(!whole.includes(scene.stage.canary), `${name} led outside at attempt ${count}`);
        });
      }
    },
  },
  {
    id: 'races.write',
    needs: ['write'],
    after: ['paths.link-write', 'paths.link-folder'],
    tries:
      'writes to a name hundreds of times while another process swaps it between a file inside and a link to one outside',
    wrong: 'the file outside changes once',
    why: 'It is the same gap, with worse results.',
    twin: writesInside,
    async attack(scene) {
      for (const { name, swap } of swaps(scene)) {
        await underAttack(swap, scene.effort.attempts, async (count) => {
          await scene.call('write', { path: name, content: 'written by the attack\n' });
          outsideMustBeUntouched(scene, `write ${count} to ${name}`);
        });
      }
    },
  },
];
