import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import fc from 'fast-check';
import type { CommandList } from '../contracts/command-list.ts';
import { nextPipeline } from './next-pipeline.ts';
import { MAX_COMMANDS, parseCommandLine, readCommand } from './read-command.ts';

test('a line and a list of words give the same command, anything else is refused', () => {
  assert.deepEqual(readCommand("echo 'a b'"), readCommand(['echo', 'a b']));
  for (const value of [7, null, ['a', 1], {}, true]) {
    assert.throws(() => readCommand(value as never), { code: 'E_VALIDATION_FAIL' });
  }
});

function tryParse(line: string): CommandList | undefined {
  try {
    return parseCommandLine(line);
  } catch (thrown) {
    assert.ok(isToolError(thrown), String(thrown));
    assert.equal(thrown.code, 'E_POLICY');
    return undefined;
  }
}

function refusal(line: string): unknown {
  try {
    parseCommandLine(line);
  } catch (thrown) {
    assert.ok(isToolError(thrown), String(thrown));
    const { reason, character, position } = thrown.details;
    return { code: thrown.code, reason, character, position };
  }
  return 'accepted';
}

describe('parseCommandLine', () => {
  test('answers pipelines in order, with what connects them and where each command starts [S0-12]', () => {
    assert.deepEqual(parseCommandLine(`a 'b c' && d|e "f\\"g\\\\" || h ; i'j'"k"l;`), {
      pipelines: [
        { operator: null, commands: [{ argv: ['a', 'b c'], column: 1 }] },
        {
          operator: '&&',
          commands: [
            { argv: ['d'], column: 12 },
            { argv: ['e', 'f"g\\'], column: 14 },
          ],
        },
        { operator: '||', commands: [{ argv: ['h'], column: 28 }] },
        { operator: ';', commands: [{ argv: ['ijkl'], column: 32 }] },
      ],
    });
  });

  test('quoted operators, expansions and comments are text [S0-12]', () => {
    const argv = parseCommandLine(`x '&& $(y) \`z\` > #' "; | & ~ * ! {}" ''"" a#b c~ d!`).pipelines[0]?.commands[0]
      ?.argv;
    assert.deepEqual(argv, ['x', '&& $(y) `z` > #', '; | & ~ * ! {}', '', 'a#b', 'c~', 'd!']);
  });

  const rows: [string, string, string, number][] = [
    ['npm test; $X', 'expansion', '$', 11],
    ['npm "a $(b)"', 'substitution', '$', 8],
    ['npm test 2> x', 'redirection', '>', 11],
    ['npm test & x', 'background', '&', 10],
    ['npm test |& x', 'pipe_stderr', '|&', 10],
    ['npm  test\u00a0x', 'foreign_blank', 'U+00A0', 10],
    ['npm test\nx', 'newline', 'U+000A', 9],
    ['npm 😀 *', 'glob', '*', 8],
    ['a && b && && c', 'empty_command', '&&', 11],
    ['a ||', 'empty_command', '||', 3],
    ['a | b; KEY=secret c', 'assignment', '=', 8],
    ['a; while b', 'reserved_word', 'while', 4],
    ["a 'b", 'unterminated_quote', "'", 3],
  ];
  for (const [line, reason, character, position] of rows) {
    test(`points at column ${position} of ${JSON.stringify(line)}: ${reason} [S0-12]`, () => {
      assert.deepEqual(refusal(line), { code: 'E_POLICY', reason, character, position });
    });
  }

  test('an assigned value does not appear in the refusal [S0-13]', () => {
    assert.throws(
      () => parseCommandLine('TOKEN=hunter2 npm test'),
      (thrown) => isToolError(thrown) && !JSON.stringify(thrown.toEntry()).includes('hunter2'),
    );
  });

  test('takes 8 KiB and not a byte more', () => {
    const line = `x ${'é'.repeat(4095)}`;
    assert.equal(parseCommandLine(line).pipelines.length, 1);
    assert.deepEqual(refusal(`${line}y`), {
      code: 'E_POLICY',
      reason: 'too_long',
      character: undefined,
      position: undefined,
    });
  });

  test('takes fifty commands and not one more, however they are joined', () => {
    for (const join of [' && ', '|', ';']) {
      const most = Array.from({ length: MAX_COMMANDS }, () => 'x').join(join);
      assert.equal(parseCommandLine(most).pipelines.flatMap(({ commands }) => commands).length, MAX_COMMANDS);
      assert.equal((refusal(`${most}${join}x`) as { reason: string }).reason, 'too_many_commands');
    }
    assert.equal(
      parseCommandLine(`${Array.from({ length: MAX_COMMANDS }, () => 'x').join(';')};`).pipelines.length,
      50,
    );
  });
});

/**
 * The recorder: names that begin with x, y or Z are no programs anywhere, so bash gives them to this function. Nothing
 * else can run: the path is empty, and no built-in consists of the letters used.
 */
const RECORDER = `
PATH=/nowhere
exec 3>"$1"
shopt -u progcomp
command_not_found_handle() {
  printf '%s\\0' "$#" "$@" >&3
  [[ $1 == x* ]]
}
`;

type Run = readonly (readonly string[])[];

/** What bash runs for each line, in order. */
function runInBash(lines: readonly string[]): Run[] {
  const folder = mkdtempSync(path.join(tmpdir(), 'shell-lines-'));
  try {
    const marked = lines.map((line) => `printf 'line\\0' >&3\n${line}\n`).join('');
    writeFileSync(path.join(folder, 'script'), RECORDER + marked);
    const bash = spawnSync('bash', ['--norc', '--noprofile', 'script', 'record'], {
      cwd: folder,
      env: { HOME: '/expanded/home', LC_ALL: 'C.UTF-8' },
      stdio: ['ignore', 'ignore', 'pipe'],
      encoding: 'utf8',
    });
    assert.equal(bash.stderr, '');
    return readRecord(readFileSync(path.join(folder, 'record'), 'utf8'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function readRecord(text: string): Run[] {
  const fields = text.split('\0');
  const runs: string[][][] = [];
  for (let at = 0; at < fields.length - 1; ) {
    if (fields[at] === 'line') {
      runs.push([]);
      at++;
      continue;
    }
    const count = Number(fields[at]);
    runs.at(-1)?.push(fields.slice(at + 1, at + 1 + count));
    at += 1 + count;
  }
  return runs;
}

/** What we would run: a program that begins with x succeeds. Pipelines stay apart, because inside one order is free. */
function plan(list: CommandList): Run[] {
  const groups: Run[] = [];
  const codes: number[] = [];
  for (;;) {
    const index = nextPipeline(list, codes);
    const commands = index === undefined ? undefined : list.pipelines[index]?.commands;
    if (commands === undefined) return groups;
    groups.push(commands.map(({ argv }) => argv));
    codes.push(commands.at(-1)?.argv[0]?.startsWith('x') ? 0 : 1);
  }
}

function assertSameAsBash(lines: readonly string[], parse = parseCommandLine): void {
  const lists = lines.map((line) => parse(line));
  const runs = runInBash(lines);
  assert.equal(runs.length, lines.length);
  for (const [index, list] of lists.entries()) {
    const expected = plan(list);
    let at = 0;
    const actual = expected.map((group) => {
      at += group.length;
      return runs[index]?.slice(at - group.length, at) ?? [];
    });
    const sorted = (groups: readonly Run[]) => groups.map((group) => group.map((argv) => argv.join('\0')).sort());
    assert.deepEqual(sorted(actual), sorted(expected), JSON.stringify(lines[index]));
    assert.equal(runs[index]?.length, at, `bash ran more: ${JSON.stringify(lines[index])}`);
  }
}

/** Programs the recorder can see; the rest is refused by the judge anyway. */
function isRecordable(list: CommandList): boolean {
  return list.pipelines.every(({ commands }) => commands.every(({ argv }) => /^[xyZ][xyZ0_+.-]*$/.test(argv[0] ?? '')));
}

const SEED = Date.now() % 2 ** 31;

const bareText = fc.stringMatching(/^[xyZ0é@%+=:,./^\]_~#!-]{1,6}$/);
const singleQuoted = fc.stringMatching(/^[xyZ0 \t"\\$`(){}<>&|;*?[#~!=é^-]{0,8}$/).map((text) => `'${text}'`);
const doubleQuoted = fc
  .array(fc.constantFrom(...`xyZ0 \t'(){}<>&|;*?[#~!=é^-`, '\\"', '\\\\'), { maxLength: 8 })
  .map((parts) => `"${parts.join('')}"`);
const word = fc
  .array(fc.oneof(bareText, singleQuoted, doubleQuoted), { minLength: 1, maxLength: 3 })
  .map((p) => p.join(''));
const program = fc.constantFrom('x', 'y', 'Z', "'x'", 'x"y"', 'y0', "Z''x", 'x-y', 'y.Z');
const blank = fc.constantFrom(' ', '\t', '  ', ' \t ');
const command = fc
  .tuple(program, fc.array(fc.tuple(blank, word), { maxLength: 5 }))
  .map(([name, words]) => name + words.flat().join(''));
const operator = fc.constantFrom('&&', '||', ';', '|', ' && ', ' || ', ' ; ', ' | ', '\t|\t');
const wellFormedLine = fc
  .tuple(command, fc.array(fc.tuple(operator, command), { maxLength: 4 }), fc.constantFrom('', ';', ' ;', ' '))
  .map(([first, rest, end]) => first + rest.flat().join('') + end);

describe('bash reads what we accept as we do [S0-12]', () => {
  test(`2,400 lines of quoted and plain words, all operators (seed ${SEED}) (deep)`, () => {
    const lines = fc
      .sample(wellFormedLine, { numRuns: 5000, seed: SEED })
      .filter((line) => tryParse(line) !== undefined)
      .slice(0, 2400);
    assert.ok(lines.length > 2000, `only ${lines.length} of 5000 accepted`);
    for (let at = 0; at < lines.length; at += 800) assertSameAsBash(lines.slice(at, at + 800));
  });

  test(`whatever gets through of random characters (seed ${SEED}) (deep)`, () => {
    const soup = fc.constantFrom(' y=~', ':~', ' Z=', ...'xxxyyyZ0   \t\'\'""\\&|;=~#!-.:/,%@+^][{}()*?$`<>\n\ré_');
    const lines = fc
      .sample(
        fc.array(soup, { minLength: 1, maxLength: 12 }).map((characters) => `x${characters.join('')}`),
        { numRuns: 60_000, seed: SEED },
      )
      .filter((line) => {
        const list = tryParse(line);
        return list !== undefined && isRecordable(list);
      });
    assert.ok(lines.length > 500, `only ${lines.length} accepted`);
    assertSameAsBash(lines.slice(0, 1500));
  });

  test('the comparison notices a parser that splits at every blank, and one that drops a command', () => {
    const naive = (line: string): CommandList => ({
      pipelines: [{ operator: null, commands: [{ argv: line.split(' '), column: 1 }] }],
    });
    assertSameAsBash(['x a b'], naive);
    assert.throws(() => assertSameAsBash(["x 'a b'"], naive), assert.AssertionError);
    const first = (line: string): CommandList => ({ pipelines: parseCommandLine(line).pipelines.slice(0, 1) });
    assertSameAsBash(['y && x'], first);
    assert.throws(() => assertSameAsBash(['x && x'], first), assert.AssertionError);
  });

  test('any text is either accepted or refused with E_POLICY, and never stalls', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        tryParse(text);
      }),
      { numRuns: 3000 },
    );
  });
});
