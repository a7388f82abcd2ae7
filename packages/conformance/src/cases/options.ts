/** A name or a pattern that begins with a dash is a name or a pattern, not an option of a program behind the tool. */
import { type Case, expect, shown } from './case.ts';
import { readsInside, searchesInside, writesInside } from './twins.ts';

export const options: readonly Case[] = [
  {
    id: 'options.read',
    needs: ['read'],
    tries: 'reads files that are called -n, --help and -rf',
    wrong: 'the name is taken as an option',
    why: 'A file name from a repository then decides what a program does.',
    twin: readsInside,
    async attack(scene) {
      for (const name of ['-n', '--help', '-rf']) {
        scene.put(name, `content of ${name} as a file\n`);
        const { ok, text } = await scene.call('read', { path: name });
        expect(ok && text.includes(`content of ${name} as a file`), `${name} is not read as a file: ${shown(text)}`);
      }
    },
  },
  {
    id: 'options.write',
    needs: ['write'],
    tries: 'writes files that are called --output=x and -o',
    wrong: 'another file is written, or none',
    why: 'Programs behind a tool, such as git and grep, have options that write files and start programs.',
    twin: writesInside,
    async attack(scene) {
      for (const name of ['--output=x', '-o']) {
        const { ok, text } = await scene.call('write', { path: name, content: 'dashed\n' });
        expect(ok, `${name} cannot be written: ${shown(text)}`);
        expect(scene.bytes(name)?.toString() === 'dashed\n', `${name} was not written as a file`);
      }
      expect(scene.bytes('x') === undefined, '--output=x was taken as an option');
    },
  },
  {
    id: 'options.search',
    needs: ['search'],
    tries: 'searches for --pre=./run-me, which makes a well-known search program start a script, and for -dashed-text',
    wrong: 'the script runs, or the text is not found',
    why: 'The pattern comes from the model, and the model may have it from a web page.',
    twin: searchesInside,
    async attack(scene) {
      scene.put('run-me', '#!/bin/sh\ntouch "$(dirname "$0")/it-ran"\n', 0o755);
      scene.put('searched.txt', 'one\n-dashed-text here\n');
      for (const pattern of ['--pre=./run-me', '--pre=./run-me needle', '-f/etc/hostname']) {
        await scene.call('search', { path: '.', pattern });
        expect(scene.bytes('it-ran') === undefined, `${shown(pattern)} started a script`);
      }
      const { ok, text } = await scene.call('search', { path: '.', pattern: '-dashed-text' });
      expect(ok && text.includes('searched.txt'), `-dashed-text is not found: ${shown(text)}`);
    },
  },
];
