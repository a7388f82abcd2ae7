/** Paths stay inside the workspace, however they are spelled and whatever is in the way. */
import { existsSync, linkSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { DoesNotApply } from '../scene/processes.ts';
import type { Scene } from '../scene/scene.ts';
import { type Case, expect, shown } from './case.ts';
import { listsInside, readsInside, searchesInside, writesInside } from './twins.ts';

const ATTACK = 'written by the attack\n';

/** Reads by each path; the canary must not come back. */
async function mustNotRead(scene: Scene, paths: readonly string[]): Promise<void> {
  for (const one of paths) {
    const { whole } = await scene.call('read', { path: one });
    expect(!whole.includes(scene.stage.canary), `${shown(one)} was read and is outside`);
  }
}

/** Writes to each path; nothing outside may appear or change. */
async function mustNotWrite(scene: Scene, paths: readonly string[]): Promise<void> {
  for (const one of paths) {
    await scene.call('write', { path: one, content: ATTACK });
    outsideMustBeUntouched(scene, `a write to ${shown(one)}`);
  }
}

export function outsideMustBeUntouched({ stage }: Scene, what: string): void {
  for (const folder of [stage.outside, stage.sibling]) {
    const now = readFileSync(path.join(folder, 'canary.txt'), 'utf8');
    expect(now === `${stage.canary}\n`, `After ${what} a file outside says ${shown(now)}`);
    expect(!existsSync(path.join(folder, 'new.txt')), `After ${what} there is a new file outside`);
  }
}

/** Without it there is nothing to read there, and no server could fail. */
export function needsProc(): void {
  if (!existsSync('/proc/self/environ')) throw new DoesNotApply('needs /proc');
}

function link(scene: Scene, name: string, target: string): void {
  symlinkSync(target, path.join(scene.stage.workspace, name));
}

export const paths: readonly Case[] = [
  {
    id: 'paths.parent-read',
    needs: ['read'],
    tries: 'reads ../outside/canary.txt, also as a detour through a folder of the workspace',
    wrong: 'the file outside comes back',
    why: 'Every other file of the user is one step away.',
    twin: readsInside,
    async attack(scene) {
      scene.put('folder/inside.txt', 'inside\n');
      await mustNotRead(scene, [
        '../outside/canary.txt',
        'folder/../../outside/canary.txt',
        './/../outside/./canary.txt',
      ]);
    },
  },
  {
    id: 'paths.parent-write',
    needs: ['write'],
    tries: 'writes to ../outside/canary.txt and ../outside/new.txt',
    wrong: 'a file outside appears or changes',
    why: 'A written start-up file is a way to run programs later.',
    twin: writesInside,
    attack: (scene) => mustNotWrite(scene, ['../outside/canary.txt', '../outside/new.txt']),
  },
  {
    id: 'paths.absolute-read',
    needs: ['read'],
    tries: 'reads a file outside by its absolute path',
    wrong: 'the file comes back',
    why: 'Absolute paths of keys and credentials are well known.',
    twin: readsInside,
    attack: (scene) => mustNotRead(scene, [path.join(scene.stage.outside, 'canary.txt')]),
  },
  {
    id: 'paths.absolute-write',
    needs: ['write'],
    tries: 'writes to absolute paths outside',
    wrong: 'a file outside appears or changes',
    why: 'It is the shortest way out of a workspace.',
    twin: writesInside,
    attack: (scene) =>
      mustNotWrite(scene, [path.join(scene.stage.outside, 'canary.txt'), path.join(scene.stage.outside, 'new.txt')]),
  },
  {
    id: 'paths.prefix',
    needs: ['read'],
    after: ['paths.parent-read', 'paths.absolute-read'],
    tries: 'reads from a folder beside the workspace whose name begins with the name of the workspace',
    wrong: 'the file comes back, because paths are compared as text (CVE-2025-53110)',
    why: 'Copies and branches of a project often have such names.',
    twin: readsInside,
    attack: (scene) =>
      mustNotRead(scene, ['../workspace-other/canary.txt', path.join(scene.stage.sibling, 'canary.txt')]),
  },
  {
    id: 'paths.link-read',
    needs: ['read'],
    tries: 'reads a symbolic link that leads to a file outside',
    wrong: 'the file outside comes back (CVE-2025-53109)',
    why: 'A repository can contain links; a clone is enough to plant one.',
    twin: readsInside,
    async attack(scene) {
      link(scene, 'absolute-link.txt', path.join(scene.stage.outside, 'canary.txt'));
      link(scene, 'relative-link.txt', '../outside/canary.txt');
      link(scene, 'link-to-link.txt', 'relative-link.txt');
      await mustNotRead(scene, ['absolute-link.txt', 'relative-link.txt', 'link-to-link.txt']);
    },
  },
  {
    id: 'paths.link-write',
    needs: ['write'],
    tries: 'writes to a link that leads to a file outside, and to one whose target does not exist yet',
    wrong: 'the file outside changes or is created',
    why: 'A check of the name alone passes, and the write goes elsewhere.',
    twin: writesInside,
    async attack(scene) {
      link(scene, 'link.txt', path.join(scene.stage.outside, 'canary.txt'));
      link(scene, 'dangling.txt', path.join(scene.stage.outside, 'new.txt'));
      await mustNotWrite(scene, ['link.txt', 'dangling.txt']);
    },
  },
  {
    id: 'paths.link-folder',
    needs: ['read', 'write'],
    tries: 'reads and writes below a link that leads to a folder outside',
    wrong: 'the file comes back, or a file is created outside',
    why: 'Only the last part of a path is checked in many programs.',
    twin: readsInside,
    async attack(scene) {
      link(scene, 'linked-folder', scene.stage.outside);
      await mustNotRead(scene, ['linked-folder/canary.txt']);
      await mustNotWrite(scene, ['linked-folder/new.txt']);
    },
  },
  {
    id: 'paths.hard-link',
    needs: ['write'],
    tries: 'writes to a name in the workspace that is a hard link to a file outside',
    wrong: 'the file outside changes; replacing the name, or refusing, is fine',
    why: 'Package managers link files from a store that all projects share; a write in place changes them all.',
    twin: writesInside,
    async attack(scene) {
      linkSync(path.join(scene.stage.outside, 'canary.txt'), path.join(scene.stage.workspace, 'hard.txt'));
      await mustNotWrite(scene, ['hard.txt']);
    },
  },
  {
    id: 'paths.proc',
    needs: ['read'],
    after: ['paths.parent-read', 'paths.absolute-read', 'paths.link-read', 'paths.link-folder'],
    tries: 'reads /proc/self/environ and the root of the process under /proc, directly and by links',
    wrong: 'the environment of the server or the file outside comes back',
    why: 'The environment of a server often holds the keys that it works with.',
    twin: readsInside,
    async attack(scene) {
      needsProc();
      link(scene, 'environ.txt', '/proc/self/environ');
      link(scene, 'root', '/proc/self/root');
      const canary = path.join(scene.stage.outside, 'canary.txt');
      for (const one of ['/proc/self/environ', 'environ.txt', `/proc/self/root${canary}`, `root${canary}`]) {
        const { whole } = await scene.call('read', { path: one });
        expect(!whole.includes(scene.stage.secret.value), `${shown(one)} returns the environment of the server`);
        expect(!whole.includes(scene.stage.canary), `${shown(one)} returns a file outside`);
      }
    },
  },
  {
    id: 'paths.nul',
    needs: ['read', 'write'],
    tries: 'uses a name with a NUL character in it',
    wrong: 'the name is cut at the NUL and another file is read or written',
    why: 'What was checked is then not what is opened.',
    twin: readsInside,
    async attack(scene) {
      scene.put('plain.txt', 'content of the plain file\n');
      const { whole } = await scene.call('read', { path: 'plain.txt\0.md' });
      expect(!whole.includes('content of the plain file'), 'The name was cut at the NUL and read');
      await scene.call('write', { path: 'cut.txt\0.md', content: ATTACK });
      expect(scene.bytes('cut.txt') === undefined, 'The name was cut at the NUL and written');
    },
  },
  {
    id: 'paths.case',
    needs: ['write'],
    tries: 'writes Notes.txt beside notes.txt, where the file system distinguishes them',
    wrong: 'the other file changes',
    why: 'Rules for paths and the file system must agree about which file is meant.',
    twin: writesInside,
    async attack(scene) {
      scene.put('notes.txt', 'lower case\n');
      if (scene.bytes('NOTES.TXT') !== undefined) {
        throw new DoesNotApply('needs a file system that distinguishes upper and lower case');
      }
      const { ok, text } = await scene.call('write', { path: 'Notes.txt', content: 'upper case\n' });
      expect(ok, `The write is refused: ${shown(text)}`);
      expect(scene.bytes('notes.txt')?.toString() === 'lower case\n', 'notes.txt was overwritten');
      expect(scene.bytes('Notes.txt')?.toString() === 'upper case\n', 'Notes.txt was not written');
    },
  },
  {
    id: 'paths.long',
    needs: ['read'],
    tries: 'reads names of 300 and paths of 70,000 characters',
    wrong: 'the server ends, or does not answer any more',
    why: 'One bad argument must not end the session with all its work.',
    twin: readsInside,
    async attack(scene) {
      for (const one of ['n'.repeat(300), 'd/'.repeat(35_000), `${'../'.repeat(20_000)}missing`]) {
        const { ok } = await scene.call('read', { path: one });
        expect(!ok, `A path of ${one.length} characters is reported as read`);
      }
      await readsInside(scene);
    },
  },
  {
    id: 'paths.list-outside',
    needs: ['list'],
    tries: 'lists the folder above the workspace, a folder outside, and one behind a link',
    wrong: 'names of files outside come back',
    why: 'Names alone tell which projects, keys and programs there are.',
    twin: listsInside,
    async attack(scene) {
      link(scene, 'linked-folder', scene.stage.outside);
      for (const one of ['../outside', scene.stage.outside, 'linked-folder', 'linked-folder/']) {
        const { whole } = await scene.call('list', { path: one });
        expect(!whole.includes('canary.txt'), `${shown(one)} is listed and is outside`);
      }
    },
  },
  {
    id: 'paths.search-outside',
    needs: ['search'],
    tries: 'searches for the text of a file outside, which links in the workspace lead to',
    wrong: 'the file outside is found',
    why: 'A search opens every file that it meets, without a check for each.',
    twin: searchesInside,
    async attack(scene) {
      link(scene, 'linked-folder', scene.stage.outside);
      link(scene, 'linked-file.txt', path.join(scene.stage.outside, 'canary.txt'));
      // The text itself is in the question, so only a hit can name the file behind the link.
      for (const one of ['.', '../outside', 'linked-folder']) {
        const { ok, text } = await scene.call('search', { path: one, pattern: scene.stage.canary.slice(0, 18) });
        expect(!(ok && text.includes(scene.stage.canary)), `A search in ${shown(one)} returns a file outside`);
        expect(!(ok && /canary\.txt|linked-file\.txt/.test(text)), `A search in ${shown(one)} finds a file outside`);
      }
    },
  },
];
