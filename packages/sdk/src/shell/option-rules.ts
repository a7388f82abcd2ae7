/**
 * Per-program rules as data: which options and subcommands make an allowed program run others or leave the workspace.
 *
 * To add a program, add an object. This is a filter that explains itself early; what it does not know, the sandbox
 * around the process still holds. A rule is lifted only by a pattern that spells the option out (judge-commands.ts).
 */
import type { ProgramRule } from './program-rule.ts';
import { INTERPRETER_RULES, PACKAGE_RUNNER_RULES } from './runner-rules.ts';

function refuse(programs: string, why: string, next?: string): ProgramRule {
  return { programs: programs.split(' '), whole: { needs: 'exact', why, ...(next === undefined ? {} : { next }) } };
}

/**
 * Programs whose purpose is to run others, to be typed into, or to reach the network.
 *
 * An entry is lifted by a pattern that spells out the whole command (`^bash scripts/check\.sh$`): then the operator has
 * judged this very command.
 */
export const REFUSED_PROGRAMS: readonly ProgramRule[] = [
  refuse(
    'sh bash dash zsh ksh mksh ash csh tcsh fish elvish nu rbash busybox toybox pwsh powershell cmd',
    'is a shell and runs whatever it is given',
    'give the commands themselves, joined by &&, ||, ; or |',
  ),
  refuse(
    'env xargs nohup nice ionice setsid stdbuf unbuffer script expect entr watch parallel flock chrt taskset setarch linux32 linux64 run-parts rlwrap watchexec nodemon xvfb-run dbus-run-session tini dumb-init',
    'starts another program',
    'give that program itself; variables go into env',
  ),
  refuse('timeout time', 'starts another program', 'give that program itself; a limit goes into timeout_ms'),
  refuse(
    'sudo su doas pkexec runuser setpriv capsh gosu su-exec sudoedit',
    'runs a program as someone else',
    'give the program itself',
  ),
  refuse(
    'chroot unshare nsenter bwrap firejail proot fakeroot systemd-run systemctl start-stop-daemon at batch crontab screen tmux docker podman nerdctl kubectl lxc machinectl wsl',
    'starts programs elsewhere, outside the sandbox',
  ),
  refuse('gdb lldb strace ltrace valgrind perf ld.so ld-linux-x86-64.so.2 ld-linux.so.2', 'starts another program'),
  refuse('ssh scp sftp rsync mosh telnet ftp nc ncat netcat socat openssl', 'talks to other machines'),
  refuse('curl wget aria2c http https xh httpie lynx w3m links', 'talks to other machines', 'use the curl tool'),
  refuse('git gh hub git-lfs', 'runs hooks, helpers and configured programs', 'use the git tools'),
  refuse(
    'vi vim view vimdiff ex nvim emacs nano pico ed joe micro less more most man info pg',
    'waits for a person and can start a shell',
    'use the file tools',
  ),
  refuse('awk gawk mawk nawk original-awk', 'runs programs from its script', 'use grep, or the file tools'),
  refuse('npx pnpx bunx uvx pipx corepack', 'fetches and runs a package', 'add the package and a script for it'),
  refuse('cd pushd popd', 'is part of a shell, not a program', 'give the folder in cwd'),
  refuse(
    'export set unset declare typeset local readonly',
    'is part of a shell, not a program',
    'give variables in env',
  ),
  refuse(
    'eval exec source command builtin alias unalias trap ulimit umask shopt enable hash type jobs fg bg disown wait',
    'is part of a shell, not a program',
    'give the program itself',
  ),
];

export type OptionRules = ReadonlyMap<string, ProgramRule>;

const RUNS = 'runs a program';
const FOLDER = 'works in a folder outside the workspace';
const WRITES = 'writes a file outside the workspace';

const PROGRAM_RULES: readonly ProgramRule[] = [
  {
    programs: ['rg', 'ripgrep'],
    syntax: 'exact',
    valueLetters: 'ABCEMTdefgjmrt',
    options: [
      { names: ['--pre'], takesValue: true, why: 'runs a program on every file' },
      { names: ['--pre-glob'], takesValue: true, why: 'chooses the files a program is run on' },
      { names: ['--hostname-bin'], takesValue: true, why: RUNS },
      { names: ['-z', '--search-zip'], why: 'runs decompression programs' },
    ],
  },
  {
    programs: ['fd', 'fdfind'],
    syntax: 'exact',
    valueLetters: 'EScdejt',
    options: [{ names: ['-x', '--exec', '-X', '--exec-batch'], takesValue: true, why: 'runs a program on every file' }],
  },
  {
    programs: ['find', 'gfind'],
    syntax: 'words',
    options: [
      { names: ['-exec', '-execdir', '-ok', '-okdir'], takesValue: true, why: 'runs a program on every file' },
      { names: ['-delete'], why: 'deletes what it finds' },
      { names: ['-fprint*', '-fls'], takesValue: true, why: 'writes files' },
    ],
  },
  {
    programs: ['tar', 'gtar', 'bsdtar'],
    syntax: 'getopt',
    valueLetters: 'CFHIKLNTVXbfg',
    bareBundle: true,
    options: [
      { names: ['--to-command', '--rsh-command', '--rmt-command'], takesValue: true, why: RUNS },
      { names: ['--checkpoint-action'], takesValue: true, except: ['--checkpoint'], why: RUNS },
      { names: ['-I', '--use-compress-program'], takesValue: true, why: RUNS },
      { names: ['-F', '--info-script', '--new-volume-script'], takesValue: true, why: RUNS },
      { names: ['-P', '--absolute-names'], why: 'keeps absolute names' },
      { names: ['-C', '--directory'], takesValue: true, when: 'outside', why: FOLDER },
    ],
  },
  {
    programs: ['cpio', 'gcpio'],
    syntax: 'getopt',
    options: [{ names: ['--rsh-command'], takesValue: true, why: RUNS }],
  },
  {
    programs: ['zip'],
    syntax: 'words',
    options: [{ names: ['-TT*', '--unzip-command*'], takesValue: true, why: RUNS }],
  },
  {
    programs: ['sed', 'gsed'],
    // -e is compiled at once: after it, --sandbox comes too late.
    firstArgument: { word: '--sandbox', why: 'runs programs and writes files from its script' },
  },
  {
    programs: ['sort', 'gsort'],
    syntax: 'getopt',
    valueLetters: 'STkot',
    options: [
      { names: ['--compress-program'], takesValue: true, why: RUNS },
      { names: ['-o', '--output', '-T', '--temporary-directory'], takesValue: true, when: 'outside', why: WRITES },
    ],
  },
  {
    programs: ['split', 'gsplit'],
    syntax: 'getopt',
    options: [{ names: ['--filter'], takesValue: true, why: RUNS }],
  },
  {
    programs: ['base64', 'base32', 'gbase64'],
    syntax: 'getopt',
    valueLetters: 'bw',
    options: [{ names: ['-o', '--output'], takesValue: true, why: 'writes a file' }],
  },
  {
    programs: ['install', 'ginstall'],
    syntax: 'getopt',
    options: [{ names: ['--strip-program'], takesValue: true, except: ['--strip'], why: RUNS }],
  },
  {
    programs: ['make', 'gmake', 'remake'],
    syntax: 'getopt',
    valueLetters: 'CEIOWfjlo',
    options: [
      { names: ['-E', '--eval'], takesValue: true, why: 'runs commands from the command line' },
      { names: ['-f', '--file', '--makefile'], takesValue: true, when: 'outside', why: 'runs a makefile from outside' },
      { names: ['-C', '--directory'], takesValue: true, when: 'outside', why: FOLDER },
      { names: ['-I', '--include-dir'], takesValue: true, when: 'outside', why: 'reads makefiles from outside' },
      { names: ['-e', '--environment-overrides'], why: 'lets variables replace the programs a makefile names' },
    ],
    words: [{ matches: /^[^-=][^=]*=/, why: 'replaces a variable of the makefile, its programs included' }],
  },
  {
    programs: ['cmake'],
    syntax: 'words',
    options: [{ names: ['-E', '-P'], takesValue: true, why: 'runs commands and scripts' }],
    words: [
      { matches: /(?:COMPILER|LAUNCHER|PROGRAM|LINKER|TOOLCHAIN)[^=]*=/i, why: RUNS },
      { matches: /^--$/, why: 'hands options to the build program' },
    ],
  },
  {
    programs: ['ctest'],
    syntax: 'words',
    options: [
      { names: ['-S*', '--script*'], takesValue: true, why: 'runs scripts' },
      { names: ['--build-and-test', '--build-makeprogram', '--test-command'], takesValue: true, why: RUNS },
    ],
  },
  {
    programs: ['ninja', 'samu'],
    syntax: 'getopt',
    valueLetters: 'Cdfjklt',
    options: [
      { names: ['-f'], takesValue: true, when: 'outside', why: 'runs a build file from outside' },
      { names: ['-C'], takesValue: true, when: 'outside', why: FOLDER },
    ],
  },
  {
    programs: ['cc', 'c++', 'gcc', 'g++', 'clang', 'clang++', 'cpp', 'gfortran'],
    syntax: 'words',
    options: [
      {
        names: ['-wrapper', '-B*', '-specs*', '--specs*', '-fplugin*', '-Xclang', '-fuse-ld*', '--ld-path*'],
        why: RUNS,
      },
    ],
    words: [{ matches: /^@/, why: 'reads options from a file' }],
  },
  {
    programs: ['cargo'],
    syntax: 'clap',
    valueLetters: 'Fjp',
    options: [
      { names: ['--config'], takesValue: true, why: 'sets compilers, linkers and runners' },
      { names: ['-Z'], takesValue: true, why: 'turns on unstable features' },
      { names: ['-C'], takesValue: true, why: 'works in another folder' },
      { names: ['--manifest-path'], takesValue: true, when: 'outside', why: 'builds a project outside the workspace' },
      {
        names: ['--target-dir', '--artifact-dir', '--out-dir', '--root', '--path', '--lockfile-path'],
        takesValue: true,
        when: 'outside',
        why: WRITES,
      },
    ],
    subcommands: [
      { names: ['install', 'uninstall'], why: 'changes what all projects use' },
      { names: ['rustc', 'rustdoc'], why: 'hands flags to the compiler, a linker among them' },
      { names: ['login', 'logout', 'owner', 'publish', 'yank'], why: 'speaks to a registry in your name' },
    ],
    words: [{ matches: /^\+.*[/\\]/, why: 'takes its programs from a folder' }],
  },
  {
    programs: ['rustc', 'rustdoc', 'clippy-driver'],
    syntax: 'exact',
    valueLetters: 'AFLWl',
    options: [
      { names: ['-C', '--codegen'], takesValue: true, when: /^(?:linker|ar|link[-_])/, why: RUNS },
      { names: ['-Z'], takesValue: true, why: 'turns on unstable features' },
      { names: ['--test-runtool', '--runtool', '--test-builder'], takesValue: true, why: RUNS },
    ],
    words: [{ matches: /^@/, why: 'reads options from a file' }],
  },
  {
    programs: ['go'],
    syntax: 'flag',
    options: [
      { names: ['-exec', '-toolexec', '-vettool'], takesValue: true, why: RUNS },
      { names: ['-overlay', '-modfile', '-pkgdir', '-C', '-o'], takesValue: true, when: 'outside', why: FOLDER },
      { names: ['-ldflags', '-gccgoflags', '-compiler'], takesValue: true, when: /ext(?:ld|ar)|gccgo/, why: RUNS },
    ],
    subcommands: [
      { names: ['generate', 'tool'], why: 'runs other programs' },
      { names: ['install'], why: 'changes what all projects use' },
      { names: ['env -w', 'env -u'], why: 'changes settings of all projects' },
    ],
  },
];

function indexRules(rules: readonly ProgramRule[]): OptionRules {
  return new Map(rules.flatMap((rule) => rule.programs.map((program) => [program, rule] as const)));
}

/** By program name, lower case. */
export const OPTION_RULES: OptionRules = indexRules([
  ...REFUSED_PROGRAMS,
  ...INTERPRETER_RULES,
  ...PACKAGE_RUNNER_RULES,
  ...PROGRAM_RULES,
]);

/** `python3.12`, `Git.exe` and `gcc-13` fall under the rule of their family. */
export function ruleFor(rules: OptionRules, program: string): ProgramRule | undefined {
  const name = program.toLowerCase().replace(/\.(?:exe|cmd|bat|ps1)$/, '');
  return rules.get(name) ?? rules.get(name.replace(/-?\d[\d.]*$/, ''));
}
