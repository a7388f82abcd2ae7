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

const RUNS = 'runs other programs';
const GLOBAL = 'changes what all projects use';
const FOLDER = 'works in another folder';
const NAMES_PROGRAM = 'names a program to run';
const SETTINGS = 'reads other settings';

function option(why: string, ...names: string[]): OptionRule {
  return { names, takesValue: true, why };
}

/**
 * Package managers: their scripts are the workspace's own, but many of their words fetch, run or change something else.
 */
export const PACKAGE_RUNNER_RULES: readonly ProgramRule[] = [
  {
    programs: ['npm'],
    syntax: 'nopt',
    bundleLetters: '?BCDEHLOPSacdfghlmnpqsvwy',
    options: [
      option(FOLDER, '-C', '--prefix', '--local-prefix'),
      option(NAMES_PROGRAM, '--script-shell', '--shell', '--git', '--editor', '--viewer', '--browser', '--node-gyp'),
      option('hands flags to node', '--node-options'),
      option('loads code', '--init-module', '--init.module'),
      option(SETTINGS, '--userconfig', '--globalconfig'),
      option('writes elsewhere', '--cache', '--logs-dir'),
      { names: ['--pack-destination'], takesValue: true, when: 'outside', why: 'writes outside the workspace' },
      { names: ['-g', '--global'], why: GLOBAL },
      option(GLOBAL, '-L', '--location'),
    ],
    subcommands: [
      { names: ['exec', 'x', 'explore', 'edit'], why: RUNS },
      { names: ['init', 'innit', 'create'], except: ['i', 'in', 'c'], why: 'fetches and runs a package' },
      { names: ['link', 'ln'], except: ['l'], why: GLOBAL },
      { names: ['set', 'config set', 'config edit', 'config delete', 'config fix'], except: ['s', 'se'], why: GLOBAL },
    ],
  },
  {
    programs: ['pnpm'],
    syntax: 'nopt',
    bundleLetters: 'CDEFLOPSacdefghilpqrsvwy',
    options: [
      option(FOLDER, '-C', '--dir', '--prefix'),
      option(NAMES_PROGRAM, '--script-shell', '--use-node-version'),
      option('hands flags to node', '--node-options'),
      option(SETTINGS, '--userconfig', '--globalconfig', '--globalpnpmfile', '--pnpmfile', '--config.*'),
      option(
        'writes elsewhere',
        '--global-dir',
        '--global-bin-dir',
        '--store-dir',
        '--virtual-store-dir',
        '--cache-dir',
      ),
      { names: ['-g', '--global'], why: GLOBAL },
      { names: ['-c', '--shell-mode'], why: RUNS },
    ],
    subcommands: [
      { names: ['exec', 'dlx', 'x'], why: RUNS },
      { names: ['init', 'create'], except: ['i', 'in', 'c'], why: 'fetches and runs a package' },
      { names: ['env', 'setup', 'self-update', 'link', 'ln'], except: ['l'], why: GLOBAL },
      { names: ['set', 'config set', 'config delete'], why: GLOBAL },
    ],
  },
  {
    programs: ['yarn', 'yarnpkg'],
    syntax: 'exact',
    options: [
      option(FOLDER, '--cwd'),
      option(NAMES_PROGRAM, '--script-shell'),
      option(SETTINGS, '--use-yarnrc'),
      option('writes elsewhere', '--global-folder', '--modules-folder', '--cache-folder', '--link-folder', '--prefix'),
    ],
    subcommands: [
      { names: ['dlx', 'exec', 'node', 'create', 'init'], why: RUNS },
      { names: ['workspace exec', 'workspace node', 'workspace dlx', 'workspaces exec'], why: RUNS },
      { names: ['global', 'link', 'set', 'plugin'], why: GLOBAL },
      { names: ['config set', 'config unset', 'config delete'], why: GLOBAL },
    ],
  },
  {
    programs: ['pip'],
    syntax: 'getopt',
    options: [
      option(NAMES_PROGRAM, '--python'),
      option('hands options to the build', '--install-option', '--global-option', '--build-option'),
      {
        names: ['-t', '--target', '--prefix', '--root', '--src', '--log'],
        takesValue: true,
        when: 'outside',
        why: 'writes outside the workspace',
      },
      { names: ['--user', '--break-system-packages'], why: GLOBAL },
    ],
    subcommands: [{ names: ['config'], why: GLOBAL }],
  },
  {
    programs: [
      'uv',
      'poetry',
      'pdm',
      'hatch',
      'rye',
      'pipenv',
      'conda',
      'mamba',
      'bundle',
      'bundler',
      'composer',
      'gem',
      'rustup',
      'mise',
      'asdf',
    ],
    syntax: 'exact',
    options: [option(FOLDER, '--directory', '--project-directory', '--working-dir')],
    subcommands: [
      { names: ['run', 'exec', 'shell', 'tool', 'x', 'tx', 'python'], why: RUNS },
      { names: ['global', 'self', 'config', 'override', 'set'], why: GLOBAL },
    ],
  },
];
