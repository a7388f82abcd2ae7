/** What bash starts is what was seen before, or the script has parts that were reported as unseen. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { seeScript } from './see-commands.ts';

const folder = mkdtempSync(join(tmpdir(), 'see-commands-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/**
 * Nothing is found, so every program that bash would start is written to descriptor 3 instead, with the number of its
 * script: what runs in the background may be late.
 */
const RECORDER = `
PATH=/nowhere
command_not_found_handle() { printf '%s %s\\0' "$SCRIPT_NUMBER" "$1" >&3; return 1; }
SCRIPT_NUMBER=0
for script in "$@"; do
  ( ulimit -t 2; eval "$script" ) </dev/null >/dev/null 2>&1
  (( SCRIPT_NUMBER++ ))
done
`;

/** For each script the names of what bash tried to start. */
function startedBy(scripts: readonly string[]): readonly (readonly string[])[] {
  const args = ['--norc', '--noprofile', '-c', RECORDER, 'bash', ...scripts];
  const { output, error } = spawnSync('bash', args, {
    cwd: folder,
    env: { LC_ALL: 'C.UTF-8' },
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
    timeout: 120_000,
    killSignal: 'SIGKILL',
  });
  assert.equal(error, undefined);
  const started: string[][] = scripts.map(() => []);
  for (const record of (output[3] ?? '').split('\0').slice(0, -1)) {
    const [number = ''] = record.split(' ', 1);
    started[Number(number)]?.push(record.slice(number.length + 1));
  }
  return started;
}

const name = fc.constantFrom('xa', 'xb', 'xc', "x'd'", 'x\\e', '"xf"', "$'x\\x67'");
const piece = fc.oneof(
  { weight: 3, arbitrary: name },
  fc.constantFrom(
    ...[' ', ' ', '\n', '; ', ' && ', ' || ', ' | ', ' & ', '$(', ')', '`', '"', "'", '\\', '\\\n', '{ ', '; }', '('],
    ...['if ', '; then ', '; fi', '; else ', 'for i in ', '; do ', '; done', 'case xa in ', ' *) ', ';;', ' esac'],
    ...[' <<E', '\nE\n', " <<'E'", ' <(', '$((', '))', '((', '${x:-', '}', ' #', ' > f', ' < f', '[[ ', ' ]]'],
    ...[
      '! ',
      'a=',
      'a=(',
      'time ',
      'function g ',
      ' coproc ',
      '{h,',
      ' "$x"',
      'eval ',
      '$x',
      '*',
      ' 2>&1',
      '<<<',
      '|&',
    ],
  ),
);
const soup = fc.array(piece, { minLength: 1, maxLength: 14 }).map((parts) => parts.join(''));

/** In form more often than a soup. */
const { script } = fc.letrec<{ script: string; command: string }>((tie) => {
  const [inner, words] = [tie('script'), fc.array(name, { minLength: 1, maxLength: 3 }).map((all) => all.join(' '))];
  return {
    script: fc
      .array(fc.tuple(tie('command'), fc.constantFrom('; ', '\n', ' && ', ' || ', ' | ', ' & ')), {
        minLength: 1,
        maxLength: 3,
      })
      .map((parts) =>
        parts
          .flat()
          .join('')
          .replace(/(?:; | && | \|\| | \| | & )$/, '\n'),
      ),
    command: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      words,
      inner.map((text) => `xa "$(${text})"`),
      inner.map((text) => `xb <(${text})`),
      inner.map((text) => `{ ${text}\n}`),
      inner.map((text) => `(${text})`),
      inner.map((text) => `if ${text}\nthen xa\nelse xb\nfi`),
      inner.map((text) => `for i in 1 $(${text}); do xc "$i"; done`),
      inner.map((text) => `case $(${text}) in xa|*) xb;; esac`),
      // A name of its own: one that is defined in a subshell only would call itself without end.
      fc.tuple(inner, fc.nat()).map(([text, number]) => `f${number}() { ${text}\n}; f${number}`),
      inner.map((text) => `xc <<E\n$(${text})\nE\n`),
      inner.map((text) => `[[ -z $(${text}) ]]`),
      inner.map((text) => `a=$(${text}) xa`),
      inner.map((text) => `xb $((1 + $(${text})))`),
      inner.map((text) => `eval '${text.replaceAll("'", `'\\''`)}'`),
    ),
  };
});

const BATCH = 100;

for (const [kind, scripts, batches] of [
  ['well-formed scripts', script, 6],
  ['soups of tokens', soup, 12],
] as const) {
  test(`bash starts only what was seen: ${kind}`, () => {
    const batch = fc.array(scripts, { minLength: BATCH, maxLength: BATCH });
    let [started, whole] = [0, 0];
    for (const texts of fc.sample(batch, { numRuns: batches, seed: 42 })) {
      const names = startedBy(texts);
      for (const [index, text] of texts.entries()) {
        const { seen, unseen } = seeScript(text);
        started += names[index]?.length ?? 0;
        if (unseen.length > 0) continue;
        whole++;
        const known = new Set(seen.map(({ argv }) => argv[0]));
        const missed = (names[index] ?? []).filter((each) => !known.has(each));
        assert.deepEqual(missed, [], `not seen in ${JSON.stringify(text)}`);
      }
    }
    assert.ok(started > BATCH && whole > BATCH, `${started} started, ${whole} scripts without unseen parts`);
  });
}
