/** Command lines: what we accept bash reads as we do, and everything else is refused. */
import assert from 'node:assert/strict';
import { isToolError, utf8Length } from '@tool-runtime/protocol';
import fc from 'fast-check';
import type { CommandList } from '../../../packages/sdk/src/contracts/command-list.ts';
import { compileAllowlistPattern } from '../../../packages/sdk/src/pattern/compile-pattern.ts';
import { joinArgv } from '../../../packages/sdk/src/shell/join-argv.ts';
import { judgeCommands } from '../../../packages/sdk/src/shell/judge-commands.ts';
import { nextPipeline } from '../../../packages/sdk/src/shell/next-pipeline.ts';
import { OPTION_RULES } from '../../../packages/sdk/src/shell/option-rules.ts';
import { parseCommandLine } from '../../../packages/sdk/src/shell/read-command.ts';
import type { FuzzTarget } from '../fuzz-target.ts';
import { BashRecorder } from '../shell/bash-recorder.ts';

const PROGRAMS = ['git', 'tar', 'find', 'npm', 'python3', 'sed', 'env', 'xargs', 'cargo', 'ssh', 'awk', 'x', 'y'];
const WORDS = [
  '-c',
  '--exec',
  '-exec',
  '--',
  '-',
  '-C',
  '..',
  '/etc/passwd',
  'core.pager=x',
  '-e',
  '--eval=1',
  '+x',
  'test',
  'a=b',
  'if',
  '!',
];
const SYNTAX = [
  '&&',
  '||',
  ';',
  '|',
  '&',
  '|&',
  ';;',
  "'",
  '"',
  '\\',
  '\\"',
  '\\\\',
  '$',
  '$(',
  '`',
  '(',
  ')',
  '{',
  '}',
  '<',
  '>',
  '*',
  '?',
  '[',
].concat(['#', '~', '=~', ':~', ' ', '\t', '\n', '\r', '\u00a0', '\0', 'é', '\u200b', "$'", '!', '{a,b}', '2>', '<<x']);

const plain = fc.oneof(fc.constantFrom(...WORDS), fc.stringMatching(/^[xyZ0é@%+=:,./^\]_~#!-]{1,6}$/));
const quoted = fc.oneof(
  fc.stringMatching(/^[xyZ0 \t"\\$`(){}<>&|;*?[#~!=é^-]{0,8}$/).map((text) => `'${text}'`),
  fc
    .array(fc.constantFrom(...`xyZ0 \t'(){}<>&|;*?[#~!=é^-`, '\\"', '\\\\'), { maxLength: 8 })
    .map((parts) => `"${parts.join('')}"`),
);
const word = fc.array(fc.oneof(plain, quoted), { minLength: 1, maxLength: 3 }).map((parts) => parts.join(''));
const command = fc
  .tuple(fc.constantFrom(...PROGRAMS), fc.array(word, { maxLength: 5 }))
  .map(([name, words]) => [name, ...words].join(' '));
const line = fc
  .tuple(
    command,
    fc.array(fc.tuple(fc.constantFrom('&&', '||', ';', '|', ' && ', '\t|\t'), command), { maxLength: 4 }),
    fc.constantFrom('', ';', ' '),
  )
  .map(([first, rest, end]) => first + rest.flat().join('') + end);

/** Longer records could be written in two pieces, with another program's between them. */
const MAX_COMPARED = 1_000;

export const shellLines: FuzzTarget = {
  name: 'shell-lines',
  holds: 'bash runs exactly the commands we read in every line we accept; all others are refused with E_POLICY',
  maxBytes: 9 * 1024,
  tokens: [...SYNTAX, ...WORDS, ...PROGRAMS],
  inputs: line,
  open() {
    const bash = new BashRecorder();
    const allow = ['^', '^git (status|log)\\b', '^x$'].map(compileAllowlistPattern);
    return {
      async check(input) {
        const text = input.toString('utf8');
        const list = parsed(text);
        if (typeof list === 'string') return list;
        checkWords(list);
        const verdict = refusalOf(() => judgeCommands(list, { allow, optionRules: OPTION_RULES })) ?? 'allowed';
        await compare(text, bash);
        return `${Math.min(list.pipelines.length, 4)} ${verdict}`;
      },
      measure(input) {
        const list = parsed(input.toString('utf8'));
        if (typeof list !== 'string') refusalOf(() => judgeCommands(list, { allow, optionRules: OPTION_RULES }));
      },
      close: () => bash.close(),
    };
  },
};

/** Why it was refused. */
function refusalOf(work: () => void): string | undefined {
  try {
    work();
    return undefined;
  } catch (thrown) {
    assert.ok(isToolError(thrown), `not a ToolError: ${thrown instanceof Error ? thrown.stack : String(thrown)}`);
    assert.equal(thrown.code, 'E_POLICY');
    assert.equal(typeof thrown.details['next'], 'string');
    return String(thrown.details['reason']);
  }
}

function parsed(text: string): CommandList | string {
  let list: CommandList | undefined;
  const refusal = refusalOf(() => {
    list = parseCommandLine(text);
  });
  return list ?? String(refusal);
}

/** What was read can be written down again, in a form that is not longer than a line may be and means the same. */
function checkWords({ pipelines }: CommandList): void {
  for (const { argv } of pipelines.flatMap(({ commands }) => commands)) {
    const text = joinArgv(argv);
    if (utf8Length(text) > 8192) continue;
    // A quoted keyword or assignment is a program's name, and the canonical form does not keep its quotes.
    const again = parsed(`x ${text}`);
    assert.ok(typeof again !== 'string', `written out it is refused: ${String(again)}`);
    assert.deepEqual(again.pipelines, [{ operator: null, commands: [{ argv: ['x', ...argv], column: 1 }] }]);
  }
}

/** Letters that no built-in and no keyword is made of; everything a shell cares about stays. */
function harmless(text: string): string {
  return text.replace(/[A-Za-z]/g, (letter) => 'xyZ'.charAt(letter.charCodeAt(0) % 3)).replace(/[0-9]/g, '0');
}

async function compare(text: string, bash: BashRecorder): Promise<void> {
  const same = harmless(text);
  const list = parsed(same);
  assert.ok(typeof list !== 'string', `other letters, other verdict: ${String(list)}`);
  const names = list.pipelines.flatMap(({ commands }) => commands.map(({ argv }) => argv[0] ?? ''));
  if (same.length > MAX_COMPARED || !names.every((name) => /^[xyZ][^/]*$/.test(name))) return;
  const expected = plan(list);
  const actual = await bash.run(same);
  assert.equal(
    actual.length,
    expected.flat().length,
    `bash runs something else: ${JSON.stringify(actual)} for ${JSON.stringify(same)}`,
  );
  let at = 0;
  for (const group of expected) {
    const ran = actual.slice(at, at + group.length);
    assert.deepEqual(sorted(ran), sorted(group), `bash reads other words: ${JSON.stringify(same)}`);
    at += group.length;
  }
}

function sorted(runs: readonly (readonly string[])[]): readonly string[] {
  return runs.map((argv) => JSON.stringify(argv)).sort();
}

/** What we would run: a program that begins with x succeeds. */
function plan(list: CommandList): readonly (readonly (readonly string[])[])[] {
  const groups: (readonly string[])[][] = [];
  const codes: number[] = [];
  for (;;) {
    const index = nextPipeline(list, codes);
    const commands = index === undefined ? undefined : list.pipelines[index]?.commands;
    if (commands === undefined) return groups;
    groups.push(commands.map(({ argv }) => argv));
    codes.push(commands.at(-1)?.argv[0]?.startsWith('x') ? 0 : 1);
  }
}
