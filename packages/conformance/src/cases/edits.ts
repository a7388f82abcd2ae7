/** Edits change what they were asked to change, and not one byte more. */
import { chmodSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Scene } from '../scene/scene.ts';
import { type Case, expect, shown } from './case.ts';
import { editsInside, readsInside, writesInside } from './twins.ts';

const BOM = '\uFEFF';

interface EditTrial {
  readonly before: string;
  readonly old: string;
  readonly new: string;
  readonly after: string;
}

/** One edit of a unique text, then the file byte by byte. */
async function editMust(scene: Scene, trial: EditTrial): Promise<void> {
  scene.put('file.txt', trial.before);
  const { ok, text } = await scene.call('edit', { path: 'file.txt', old: trial.old, new: trial.new });
  expect(ok, `The edit is refused: ${shown(text)}`);
  const now = scene.bytes('file.txt');
  expect(now?.equals(Buffer.from(trial.after)) === true, `${shown(now)} instead of ${shown(trial.after)}`);
}

async function editMustFail(scene: Scene, before: string, old: string): Promise<void> {
  scene.put('file.txt', before);
  const { ok, text } = await scene.call('edit', { path: 'file.txt', old, new: 'replacement' });
  const now = scene.bytes('file.txt');
  expect(now?.equals(Buffer.from(before)) === true, `The file was changed to ${shown(now)}`);
  expect(!ok, `Success is reported for an edit that changed nothing: ${shown(text)}`);
}

export const edits: readonly Case[] = [
  {
    id: 'edits.bytes',
    needs: ['edit'],
    tries: 'edits one word in a file with tabs, blanks at line ends, blank lines and a form feed',
    wrong: 'any other byte of the file changes',
    why: 'Reformatting on the side hides the real change in a diff and breaks files where blanks count.',
    twin: editsInside,
    attack: (scene) =>
      editMust(scene, {
        before: '\tif x:  \n\n\n\t\ttarget  \t\n\f\n   end \n\n',
        old: 'target',
        new: 'changed',
        after: '\tif x:  \n\n\n\t\tchanged  \t\n\f\n   end \n\n',
      }),
  },
  {
    id: 'edits.literal',
    needs: ['edit'],
    tries: 'edits with characters that mean something in patterns and replacements: $&, $1, \\n, [a-z]',
    wrong: 'the text is taken as a pattern or a template instead of as it is',
    why: 'Code is full of such characters; a corrupted edit looks like a mistake of the model.',
    twin: editsInside,
    attack: (scene) =>
      editMust(scene, {
        before: 'axc\nvalue = a.c[0-9]+\nend\n',
        old: 'a.c[0-9]+',
        new: "$& $1 $$ $' \\n \\1 {path}",
        after: "axc\nvalue = $& $1 $$ $' \\n \\1 {path}\nend\n",
      }),
  },
  {
    id: 'edits.ambiguous',
    needs: ['edit'],
    tries: 'edits a text that is in the file three times',
    wrong: 'one of the places is picked, or all are changed, without being asked',
    why: 'The edit lands in the wrong function and the answer says that all is well.',
    twin: editsInside,
    attack: (scene) => editMustFail(scene, 'a = same\nb = same\nc = same\n', 'same'),
  },
  {
    id: 'edits.missing',
    needs: ['edit'],
    tries: 'edits a text that is not in the file',
    wrong: 'success is reported, or something else is changed',
    why: 'An agent that believes its edit was made builds the next steps on it.',
    twin: editsInside,
    attack: (scene) => editMustFail(scene, 'alpha\nbeta\ngamma\n', 'this text is nowhere in it'),
  },
  {
    id: 'edits.line-endings',
    needs: ['edit'],
    tries: 'edits one word in a file with CRLF line ends, and in one that mixes CRLF and LF',
    wrong: 'line ends outside the edit change',
    why: 'Every line of the file shows up as changed, and scripts for Windows or Unix stop working.',
    twin: editsInside,
    async attack(scene) {
      const word = { old: 'two', new: 'second' };
      await editMust(scene, { ...word, before: 'one\r\ntwo\r\nthree\r\n', after: 'one\r\nsecond\r\nthree\r\n' });
      await editMust(scene, {
        ...word,
        before: 'one\r\ntwo\nthree\r\nfour\n',
        after: 'one\r\nsecond\nthree\r\nfour\n',
      });
    },
  },
  {
    id: 'edits.bom',
    needs: ['edit'],
    tries: 'edits a file that begins with a byte order mark',
    wrong: 'the mark is lost or doubled',
    why: 'Compilers and spreadsheets that rely on the mark read the file in another encoding afterwards.',
    twin: editsInside,
    attack: (scene) =>
      editMust(scene, { before: `${BOM}one\ntwo\n`, old: 'two', new: 'second', after: `${BOM}one\nsecond\n` }),
  },
  {
    id: 'edits.final-newline',
    needs: ['edit'],
    tries: 'edits a file whose last line has no line end',
    wrong: 'a line end is added at the end',
    why: 'The change is not asked for, and files such as keys and fixtures must end where they end.',
    twin: editsInside,
    attack: (scene) =>
      editMust(scene, { before: 'one\ntwo\nthree', old: 'two', new: 'second', after: 'one\nsecond\nthree' }),
  },
  {
    id: 'edits.empty',
    needs: ['edit'],
    tries: 'edits a text in an empty file',
    wrong: 'the new text is put there although the old text is not in the file',
    why: 'An empty file is often a sign that something else went wrong; filling it hides that.',
    twin: editsInside,
    attack: (scene) => editMustFail(scene, '', 'anything'),
  },
  {
    id: 'edits.unicode',
    needs: ['edit'],
    tries: 'edits beside composed and decomposed letters, emoji sequences and unusual line separators',
    wrong: 'characters outside the edit are normalised or split',
    why: 'Names, translations and test data change silently, and no longer compare equal.',
    twin: editsInside,
    attack: (scene) =>
      editMust(scene, {
        before: 'caf\u00e9 cafe\u0301\n\u{1F469}\u200D\u{1F4BB} word\u2028next\n\u0130i\u0307\n',
        old: 'word',
        new: 'w\u00f6rter',
        after: 'caf\u00e9 cafe\u0301\n\u{1F469}\u200D\u{1F4BB} w\u00f6rter\u2028next\n\u0130i\u0307\n',
      }),
  },
  {
    id: 'edits.other-encoding',
    needs: ['edit'],
    tries: 'edits the ASCII part of a file in Latin-1',
    wrong: 'the bytes that are not UTF-8 are replaced; refusing the edit is fine',
    why: 'All umlauts of an old source tree turn into question marks with the first edit.',
    twin: editsInside,
    async attack(scene) {
      const bytes = (word: string): Buffer => Buffer.from(`gr\u00fc\u00dfe\n${word}\n`, 'latin1');
      scene.put('file.txt', bytes('target'));
      const { ok } = await scene.call('edit', { path: 'file.txt', old: 'target', new: 'changed' });
      const now = scene.bytes('file.txt');
      const wanted = bytes(ok ? 'changed' : 'target');
      expect(now?.equals(wanted) === true, `${now?.toString('hex')} instead of ${wanted.toString('hex')}`);
    },
  },
  {
    id: 'edits.mode',
    needs: ['edit'],
    tries: 'edits a script that is executable and private (mode 0750)',
    wrong: 'the permissions of the file change',
    why: 'A script that no longer runs, or a private file that others can read, is damage that no diff of the text shows.',
    twin: editsInside,
    async attack(scene) {
      scene.put('script.sh', '#!/bin/sh\necho one\n');
      const file = path.join(scene.stage.workspace, 'script.sh');
      chmodSync(file, 0o750);
      const { ok, text } = await scene.call('edit', { path: 'script.sh', old: 'one', new: 'two' });
      expect(ok, `The edit is refused: ${shown(text)}`);
      const mode = statSync(file).mode & 0o7777;
      expect(mode === 0o750, `The mode is ${mode.toString(8)} instead of 750`);
    },
  },
  {
    id: 'edits.concurrent',
    needs: ['edit'],
    tries: 'sends twelve edits of different lines of one file at the same time',
    wrong: 'an edit that reported success is not in the file, or one that was refused is',
    why: 'Agents call tools in parallel; a lost update is noticed long after, if at all.',
    twin: editsInside,
    async attack(scene) {
      const lines = Array.from({ length: 12 }, (_, at) => `line-${at}-old.`);
      scene.put('file.txt', `${lines.join('\n')}\n`);
      const calls = lines.map((line) =>
        scene.call('edit', { path: 'file.txt', old: line, new: line.replace('old', 'new') }),
      );
      const answers = await Promise.all(calls);
      expect(
        answers.some(({ ok }) => ok),
        'Every edit is refused',
      );
      const wanted = lines.map((line, at) => (answers[at]?.ok === true ? line.replace('old', 'new') : line)).join('\n');
      const now = scene.bytes('file.txt')?.toString();
      expect(now === `${wanted}\n`, `Edits that reported success are lost: ${shown(now)}`);
    },
  },
  {
    id: 'edits.write-bytes',
    needs: ['write'],
    tries: 'writes a text with CRLF, blanks at line ends, a byte order mark and no final line end',
    wrong: 'the file has other bytes than the text',
    why: 'What the model wrote, and what it reads back, must be the same.',
    twin: writesInside,
    async attack(scene) {
      const content = `${BOM}one \r\ntwo\t\n\n\u{1F600} last`;
      const { ok, text } = await scene.call('write', { path: 'file.txt', content });
      expect(ok, `The write is refused: ${shown(text)}`);
      const now = scene.bytes('file.txt');
      expect(now?.equals(Buffer.from(content)) === true, `${shown(now)} instead of ${shown(content)}`);
    },
  },
  {
    id: 'edits.read-whole',
    needs: ['read'],
    tries: 'reads a file whose last line has no line end',
    wrong: 'a line is missing or changed in the answer',
    why: 'A model edits what it was shown; what it was not shown gets lost.',
    twin: readsInside,
    async attack(scene) {
      const lines = ['first line', '\tindented', 'caf\u00e9 \u{1F600}', 'the very last words'];
      scene.put('file.txt', lines.join('\n'));
      const { ok, text } = await scene.call('read', { path: 'file.txt' });
      expect(ok, `The read is refused: ${shown(text)}`);
      for (const line of lines) expect(text.includes(line), `${shown(line)} is missing in the answer`);
    },
  },
];
