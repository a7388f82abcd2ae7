import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { isToolError, type JsonObject } from '@tool-runtime/protocol';
import { compileAllowlistPattern } from '../pattern/compile-pattern.ts';
import { joinArgv } from './join-argv.ts';
import { judgeCommands } from './judge-commands.ts';
import { OPTION_RULES } from './option-rules.ts';
import { parseArgv, parseCommandLine } from './read-command.ts';

interface Group {
  readonly name: string;
  readonly allow: readonly string[];
  readonly refused: readonly { readonly line: string; readonly reason: string; readonly twin: string }[];
  readonly allowed: readonly string[];
}

const table = JSON.parse(readFileSync(new URL('fixtures/command-lines.json', import.meta.url), 'utf8')) as {
  readonly groups: readonly Group[];
};

function policy(patterns: readonly string[]) {
  return { allow: patterns.map(compileAllowlistPattern), optionRules: OPTION_RULES };
}

function judgeLine(line: string, patterns: readonly string[]): void {
  judgeCommands(parseCommandLine(line), policy(patterns));
}

function refusalOf(action: () => void): JsonObject & { readonly message: string } {
  try {
    action();
  } catch (thrown) {
    assert.ok(isToolError(thrown), String(thrown));
    assert.equal(thrown.code, 'E_POLICY');
    assert.equal(thrown.details['gate'], 'rule');
    assert.equal(thrown.details['rule'], 'sec.shell.allowlist');
    assert.match(String(thrown.details['next']), /\S/);
    assert.doesNotMatch(thrown.message, /[\p{C}.]$|[\p{C}\p{Zl}\p{Zp}]/u);
    return { ...thrown.details, message: thrown.message };
  }
  assert.fail('It was allowed');
}

describe('the table of command lines [S0-12]', () => {
  for (const group of table.groups) {
    test(`${group.name}: every refusal has its reason, every twin runs [S0-12]`, () => {
      const wrong: string[] = [];
      for (const { line, reason, twin } of group.refused) {
        let found = 'allowed';
        try {
          judgeLine(line, group.allow);
        } catch {
          found = String(refusalOf(() => judgeLine(line, group.allow))['reason']);
        }
        if (found !== reason) wrong.push(`${JSON.stringify(line)}: ${found}, not ${reason}`);
        try {
          judgeLine(twin, group.allow);
        } catch (thrown) {
          wrong.push(`twin ${JSON.stringify(twin)}: ${thrown instanceof Error ? thrown.message : thrown}`);
        }
      }
      for (const line of group.allowed) {
        try {
          judgeLine(line, group.allow);
        } catch (thrown) {
          wrong.push(`${JSON.stringify(line)}: ${thrown instanceof Error ? thrown.message : thrown}`);
        }
      }
      assert.deepEqual(wrong, []);
    });
  }

  test('the table holds no line twice in a group and enough lines to mean something', () => {
    const refused = table.groups.flatMap((group) => group.refused.map(({ line }) => `${group.name}\n${line}`));
    assert.equal(new Set(refused).size, refused.length);
    assert.ok(refused.length >= 170);
  });
});

describe('judgeCommands', () => {
  test('names the command, its column, the nearest pattern and the key of the registry [S0-12]', () => {
    const refused = refusalOf(() =>
      judgeLine('npm test && npm publish --tag x', ['^cargo$', '^npm test$', '^npm run x$']),
    );
    assert.deepEqual(refused, {
      kind: 'policy_denial',
      retry: 'not_retryable',
      gate: 'rule',
      rule: 'sec.shell.allowlist',
      reason: 'not_allowlisted',
      field: 'shell_allow.^npm test$',
      program: 'npm',
      command: 'npm publish --tag x',
      position: 13,
      nearest: '^npm test$',
      next: 'for npm is allowed: ^npm test$',
      message: 'Command not in the allowlist: npm publish --tag x at column 13',
    });
  });

  test('names an option that runs programs, and how the operator would allow it [S0-12]', () => {
    const refused = refusalOf(() => judgeLine('rg x | rg --pre cat y', ['^rg(\\s|$)']));
    assert.deepEqual(
      { reason: refused['reason'], position: refused['position'], message: refused.message, next: refused['next'] },
      {
        reason: 'refused_option',
        position: 8,
        message: 'Option not allowed, it runs a program on every file: rg --pre cat at column 8',
        next: 'leave out --pre cat; or ask the operator for a pattern that ends with $ and spells this out',
      },
    );
  });

  test('without any pattern nothing runs, and the answer says where patterns are written [S0-12]', () => {
    const refused = refusalOf(() => judgeLine('cargo test', []));
    assert.equal(refused['next'], 'no command is allowed; the operator lists patterns in shell_allow');
  });

  test('an unknown program is told what there is', () => {
    const refused = refusalOf(() => judgeLine('ls', ['^cargo(\\s|$)', '^rg(\\s|$)']));
    assert.equal(refused['next'], 'allowed are: ^cargo(\\s|$)  ^rg(\\s|$)');
    assert.equal(refused['nearest'], undefined);
  });

  test('a command late in a long list is judged like the first [S0-12]', () => {
    const line = Array.from({ length: 49 }, () => 'cargo test').join(' && ');
    judgeLine(`${line} && cargo doc`, ['^cargo(\\s|$)']);
    assert.equal(refusalOf(() => judgeLine(`${line} && id`, ['^cargo(\\s|$)']))['reason'], 'not_allowlisted');
  });

  test('two patterns never lift together what neither lifts alone', () => {
    const allow = ['^rg --pre cat .*$', '^rg .* -z$'];
    assert.equal(refusalOf(() => judgeLine('rg --pre cat x -z', allow))['reason'], 'refused_option');
    judgeLine('rg --pre cat x -z', [...allow, '^rg --pre cat [a-z]+ -z$']);
  });

  test('a long command is cut in the message', () => {
    const refused = refusalOf(() => judgeLine(`ls ${'x'.repeat(5000)}`, ['^rg$']));
    assert.ok(refused.message.length < 300);
  });
});

describe('a command given as a list of words', () => {
  const allow = ['^npm test$', '^rg(\\s|$)', '^if '];
  const judgeArgv = (...argv: string[]) => judgeCommands(parseArgv(argv), policy(allow));

  test('shell characters are text, and the allowlist sees them quoted [S0-12]', () => {
    judgeArgv('rg', '$(id); x', '*', '>', '~');
    judgeCommands(parseArgv(['rg', "it's", '']), policy([`^rg 'it'"'"'s' ''$`]));
  });

  test('one word cannot pose as two [S0-12]', () => {
    judgeArgv('npm', 'test');
    assert.equal(refusalOf(() => judgeArgv('npm test'))['reason'], 'program_name');
    assert.equal(refusalOf(() => judgeArgv('npm', 'test', ''))['reason'], 'not_allowlisted');
    assert.equal(refusalOf(() => judgeArgv('npm', 'test\tx'))['reason'], 'not_allowlisted');
  });

  test('the same programs and options are refused [S0-12]', () => {
    assert.equal(refusalOf(() => judgeArgv('rg', '--pre=cat', 'x'))['reason'], 'refused_option');
    assert.equal(refusalOf(() => judgeArgv('./rg', 'x'))['reason'], 'program_name');
    assert.equal(refusalOf(() => judgeArgv('', 'x'))['reason'], 'program_name');
    assert.equal(refusalOf(() => judgeArgv())['reason'], 'empty_command');
    judgeArgv('rg', 'pre=cat', 'x');
  });

  test('a file of the workspace needs a pattern that spells it out, and keeps the rules of its name [S0-12]', () => {
    const judge = (allowed: string[], ...argv: string[]) => judgeCommands(parseArgv(argv), policy(allowed));
    judge(['^\\./check( |$)'], './check', '--all');
    judge(['^node_modules/\\.bin/eslint( |$)'], 'node_modules/.bin/eslint', 'src');
    const open = ['^.*$', '^\\./[a-z]+$', '^cat ./check$', '^[./a-z]+ x$'];
    assert.equal(refusalOf(() => judge(open.slice(0, 2), './check'))['reason'], 'program_name');
    assert.match(String(refusalOf(() => judge([], './check'))['next']), /\^\.\/check|\^\\\.\/check/);
    assert.equal(refusalOf(() => judge([...open, '^\\./check y$'], './check'))['reason'], 'not_allowlisted');
    for (const program of ['../check', './a/../check', '/bin/check', 'a//check', './-x', '~/check']) {
      const pattern = `^${program.replaceAll('.', '\\.')}$`;
      assert.equal(refusalOf(() => judge([pattern], program))['reason'], 'program_name', program);
    }
    const python = ['^\\.venv/bin/python3(\\s|$)'];
    assert.equal(refusalOf(() => judge(python, '.venv/bin/python3', '-c', 'x'))['reason'], 'interpreter');
    judge(['^\\.venv/bin/python3 -c x$'], '.venv/bin/python3', '-c', 'x');
  });

  test('characters that no command may hold stay refused [S0-12]', () => {
    assert.equal(refusalOf(() => judgeArgv('rg', 'a\nb'))['reason'], 'newline');
    assert.equal(refusalOf(() => judgeArgv('rg', 'a\u0000b'))['reason'], 'control_character');
    assert.equal(refusalOf(() => judgeArgv('rg', 'a\u00a0b'))['reason'], 'foreign_blank');
    assert.equal(refusalOf(() => judgeArgv('rg', 'x'.repeat(8190)))['reason'], 'too_long');
    judgeArgv('rg', 'x'.repeat(8189));
  });

  test('a line and the list it stands for are judged alike', () => {
    for (const line of ['npm test', 'npm test x', "rg 'a b' --pre=cat", 'rg "a b"']) {
      const argv = parseCommandLine(line).pipelines[0]?.commands[0]?.argv ?? [];
      const verdict = (judge: () => void) => {
        try {
          judge();
          return 'allowed';
        } catch {
          return refusalOf(judge)['reason'];
        }
      };
      assert.equal(
        verdict(() => judgeLine(line, allow)),
        verdict(() => judgeArgv(...argv)),
        joinArgv(argv),
      );
    }
  });
});
