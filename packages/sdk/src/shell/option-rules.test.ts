import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { findFaults } from './find-faults.ts';
import { OPTION_RULES, REFUSED_PROGRAMS, ruleFor } from './option-rules.ts';
import { OPTION_SYNTAXES } from './program-rule.ts';
import { INTERPRETER_RULES, PACKAGE_RUNNER_RULES } from './runner-rules.ts';

const rules = [...new Set(OPTION_RULES.values())];

function reasons(...argv: string[]): string[] {
  const rule = ruleFor(OPTION_RULES, argv[0] ?? '');
  return rule === undefined ? [] : findFaults(argv, rule).map(({ reason, text }) => `${reason} ${text}`);
}

describe('the tables of program rules', () => {
  test('name each program once, in lower case', () => {
    const names = rules.flatMap(({ programs }) => programs);
    assert.equal(new Set(names).size, names.length);
    assert.deepEqual(
      names.filter((name) => !/^[a-z0-9][a-z0-9.+_-]*$/.test(name)),
      [],
    );
    // A later table must not hide a row of an earlier one.
    for (const rule of [...REFUSED_PROGRAMS, ...INTERPRETER_RULES, ...PACKAGE_RUNNER_RULES])
      assert.ok(rules.includes(rule));
  });

  test('give every option a dash, and the bundle letters where words with one dash may be long', () => {
    for (const { programs, syntax, options = [], bundleLetters } of rules) {
      const traits = OPTION_SYNTAXES[syntax ?? 'exact'];
      if (traits.anyDashes && traits.bundles) assert.ok(bundleLetters, programs.join());
      for (const name of options.flatMap(({ names }) => names)) assert.match(name, /^-{1,2}[\w?][\w.:-]*\*?$/);
    }
  });

  test('every refused option is found alone, with its value attached, and behind other words [S0-12]', () => {
    for (const { programs, syntax, options = [], endsAtOperand } of rules) {
      const program = programs[0] ?? '';
      for (const { names, takesValue, when } of options) {
        const value = when instanceof RegExp ? 'linker=extld' : '/outside';
        for (const name of names.map((written) => written.replace('*', ''))) {
          const spellings = [
            [name, value],
            [...(endsAtOperand ? ['-W'] : ['word']), name, value],
          ];
          if (takesValue && name.startsWith('--')) spellings.push([`${name}=${value}`]);
          if (takesValue && name.length === 2 && OPTION_SYNTAXES[syntax ?? 'exact'].bundles)
            spellings.push([`${name}=${value}`]);
          for (const words of spellings) {
            const found = reasons(program, ...words).some((reason) => reason.startsWith('refused_option'));
            assert.ok(found, `${program} ${words.join(' ')}`);
          }
        }
      }
    }
  });

  test('every refused subcommand is found, also behind an option that may take a value [S0-12]', () => {
    for (const { programs, subcommands = [] } of rules) {
      for (const name of subcommands.flatMap(({ names }) => names)) {
        for (const before of [[], ['--quiet'], ['--level', 'x'], ['--a', 'b', '--c', 'd']]) {
          const found = reasons(programs[0] ?? '', ...before, ...name.split(' '));
          assert.ok(
            found.some((reason) => reason.startsWith('refused_subcommand')),
            `${programs[0]} ${before.join(' ')} ${name}`,
          );
        }
        assert.deepEqual(
          reasons(programs[0] ?? '', 'test', ...name.split(' ').slice(0, 1)).filter((r) => r.startsWith('refused_sub')),
          [],
        );
      }
    }
  });
});

describe('ruleFor', () => {
  test('knows a program by its family [S0-12]', () => {
    const names = [
      'python3',
      'python3.12',
      'Git',
      'git.exe',
      'gcc-13',
      'g++-13',
      'base64',
      'lua5.4',
      'NPM.cmd',
      'bash5',
    ];
    const families = ['python', 'python', 'git', 'git', 'gcc', 'g++', 'base64', 'lua', 'npm', 'bash'];
    assert.deepEqual(
      names.map((name) => ruleFor(OPTION_RULES, name)),
      families.map((name) => OPTION_RULES.get(name)),
    );
    assert.ok(families.every((name) => OPTION_RULES.has(name)));
    assert.deepEqual(
      ['ls', '7z', '123', 'pythonic', 'constructor'].map((name) => ruleFor(OPTION_RULES, name)),
      Array(5).fill(undefined),
    );
  });
});

describe('what the rules know about real programs', () => {
  test('sed runs a program before a later --sandbox counts, and not behind an earlier one', () => {
    const run = (...args: string[]) => spawnSync('sed', args, { input: 'x\n', encoding: 'utf8' }).stdout;
    assert.equal(run('-e', '1e echo ran', '--sandbox'), 'ran\nx\n');
    assert.equal(run('--sandbox', '-e', '1e echo ran'), '');
  });

  test('sort and tar take cut long options', () => {
    const run = (program: string, ...args: string[]) =>
      spawnSync(program, args, { encoding: 'utf8', input: '' }).status;
    assert.equal(run('sort', '--compress-prog=cat'), 0);
    assert.equal(run('tar', '--to-c=cat', '--version'), 0);
    assert.notEqual(run('tar', '--to-x=cat', '--version'), 0);
    assert.deepEqual(reasons('sort', '--compress-prog=cat'), ['refused_option --compress-prog=cat']);
  });
});
