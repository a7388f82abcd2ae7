/**
 * Interpreters: programs that run the code they are given.
 *
 * Allowed only by a pattern that ends with `$` (`^python3 -m pytest( [\w./-]+)*$`), because an open one allows every
 * program there is; and code on the command line or from standard input only where the pattern spells it out.
 */
import type { OptionRule, ProgramRule } from './program-rule.ts';

const WHOLE = { needs: 'anchored', why: 'runs any code it is given' } as const;
const INLINE = 'runs code from the command line';
const LOADS = 'loads code before the script';
const STDIN = { matches: /^-$/, why: 'runs code from standard input' };

function inline(...names: string[]): OptionRule {
  return { names, takesValue: true, why: INLINE };
}

function loads(...names: string[]): OptionRule {
  return { names, takesValue: true, why: LOADS };
}

export const INTERPRETER_RULES: readonly ProgramRule[] = [
  {
    programs: ['python', 'pypy', 'ipython'],
    whole: WHOLE,
    syntax: 'exact',
    valueLetters: 'mWX',
    endsAtOperand: true,
    endsBehind: '-m',
    options: [inline('-c')],
    words: [STDIN],
  },
  {
    programs: ['node', 'nodejs', 'tsx', 'ts-node'],
    whole: WHOLE,
    syntax: 'exact',
    endsAtOperand: true,
    options: [
      inline('-e', '--eval', '-p', '--print'),
      loads('-r', '--require', '--import', '--loader', '--experimental-loader', '--env-file', '--env-file-if-exists'),
      { names: ['--inspect*', '--debug*'], why: 'opens a port that runs code' },
      { names: ['--openssl-config', '--test-reporter', '--snapshot-blob'], takesValue: true, why: LOADS },
      { names: ['-i', '--interactive'], why: 'runs code from standard input' },
    ],
    words: [STDIN],
  },
  {
    programs: ['perl'],
    whole: WHOLE,
    syntax: 'exact',
    endsAtOperand: true,
    options: [inline('-e', '-E'), loads('-M', '-m'), { names: ['-d'], why: LOADS }],
    words: [STDIN],
  },
  {
    programs: ['ruby', 'jruby'],
    whole: WHOLE,
    syntax: 'exact',
    endsAtOperand: true,
    options: [inline('-e'), loads('-r', '--require')],
    words: [STDIN],
  },
  {
    programs: ['php'],
    whole: WHOLE,
    syntax: 'exact',
    endsAtOperand: true,
    options: [inline('-r', '-B', '-R', '-E', '--run', '--process-begin', '--process-code'), loads('-d', '-z', '-c')],
    words: [STDIN],
  },
  {
    programs: ['lua', 'luajit'],
    whole: WHOLE,
    syntax: 'exact',
    endsAtOperand: true,
    options: [inline('-e'), loads('-l'), { names: ['-i'], why: 'runs code from standard input' }],
    words: [STDIN],
  },
  {
    programs: ['bun'],
    whole: WHOLE,
    syntax: 'exact',
    options: [
      inline('-e', '--eval', '-p', '--print'),
      loads('-r', '--preload', '--require', '--import', '-c', '--config'),
      { names: ['--cwd'], takesValue: true, why: 'works in another folder' },
      { names: ['-g', '--global'], why: 'changes what all projects use' },
    ],
    subcommands: [{ names: ['x', 'exec', 'create', 'init', 'repl'], why: 'runs other programs' }],
    words: [STDIN],
  },
  {
    programs: ['deno'],
    whole: WHOLE,
    syntax: 'exact',
    options: [loads('-c', '--config', '--import-map', '--preload', '--require')],
    subcommands: [{ names: ['eval', 'repl', 'install', 'x', 'create'], why: INLINE }],
    words: [STDIN],
  },
  {
    programs: ['java'],
    whole: WHOLE,
    syntax: 'words',
    options: [
      { names: ['-javaagent*', '-agentlib*', '-agentpath*', '-XX:On*', '-XX:Flags*', '-XX:VMOptions*'], why: LOADS },
    ],
    words: [{ matches: /^@/, why: 'reads options from a file' }],
  },
  {
    programs:
      'tclsh wish guile rscript r julia jshell scala kotlin groovy elixir erl escript runghc ocaml swift osascript m4 dc gs gnuplot sqlite psql mysql mongosh octave'.split(
        ' ',
      ),
    whole: WHOLE,
  },
];
