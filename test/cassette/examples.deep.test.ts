import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createPageFolder, type PageFolder } from '../pages/run-page.ts';

const examples = new URL('../../examples/', import.meta.url);
const files = readdirSync(examples).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
const hook = new URL('./tape-hook.ts', import.meta.url).pathname;

/** In a folder and a home of its own; `tool-runtime` on the path has a cassette too. */
function runTaped(file: string, mode: 'record' | 'replay', tapes: string): PageFolder {
  const place = createPageFolder();
  const plain = join(place.root, 'bin/tool-runtime');
  const words = `--cassette '${tapes}/command.jsonl' --cassette-mode ${mode}`;
  const [exec = ''] = readFileSync(plain, 'utf8').split('\n').slice(1);
  writeFileSync(plain, `#!/bin/sh\n${exec} ${words}\n`);
  const { status, stderr } = spawnSync(
    process.execPath,
    ['-C', 'tool-runtime-source', '--import', hook, new URL(file, examples).pathname],
    { cwd: place.workspace, env: { ...place.environment, TAPE_FOLDER: tapes, TAPE_MODE: mode }, encoding: 'utf8' },
  );
  assert.deepEqual([status, stderr], [0, ''], `${file} ${mode}`);
  return place;
}

function readAll(folder: string, end: RegExp): Readonly<Record<string, string>> {
  const names = readdirSync(folder).filter((name) => end.test(name));
  return Object.fromEntries(names.sort().map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

/** The answers of a cassette, in the order of its calls. */
function answersOf(text: string): readonly string[] {
  const [, ...lines] = text.trimEnd().split('\n');
  return lines.map((line) => JSON.stringify((JSON.parse(line) as { answer: unknown }).answer));
}

describe('every example', { concurrency: 2 }, () => {
  for (const file of files) {
    test(`${file}: recorded again it gives the same bytes, replayed the recorded answers (deep)`, () => {
      using store = createPageFolder();
      const [first, again] = [join(store.root, 'first-tapes'), join(store.root, 'second-tapes')];
      for (const folder of [first, again]) mkdirSync(folder);
      runTaped(file, 'record', first)[Symbol.dispose]();
      runTaped(file, 'record', again)[Symbol.dispose]();
      const tapes = readAll(first, /^\w+\.jsonl$/);
      assert.ok(Object.values(tapes).some((text) => answersOf(text).length > 0));
      assert.deepEqual(readAll(again, /^\w+\.jsonl$/), tapes);

      const replay = join(store.root, 'replay-tapes');
      mkdirSync(replay);
      for (const [name, text] of Object.entries(tapes)) writeFileSync(join(replay, name), text);
      using place = runTaped(file, 'replay', replay);
      assert.deepEqual(readAll(replay, /^\w+\.jsonl$/), tapes, 'replay changes nothing in the cassette');
      for (const [name, text] of Object.entries(tapes)) {
        const noted = join(replay, name.replace('.jsonl', '.answers.jsonl'));
        if (!existsSync(noted)) continue;
        const answers = readFileSync(noted, 'utf8').replaceAll(place.workspace, '<workspace>').trimEnd().split('\n');
        // Calls of atomic batches are recorded, and noted by the batch alone.
        const left = [...answersOf(text)];
        for (const answer of answers) {
          const at = left.indexOf(answer);
          assert.notEqual(at, -1, answer);
          left.splice(0, at + 1);
        }
      }
    });
  }
});
