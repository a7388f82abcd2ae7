/** Programs that start the program named in their arguments, and how to find it there. Data. */

export interface Wrapper {
  /** Separated by blanks. */
  readonly programs: string;
  /** The word that must come first, as in `uv run`. */
  readonly verbs?: string;
  /** Options whose value is the next word. */
  readonly values?: string;
  /** With one of these it starts nothing. */
  readonly stops?: string;
  /** Words before the program. */
  readonly operands?: number;
  /** `NAME=value` may come before the program. */
  readonly assigns?: true;
}

const WRAPPERS: readonly Wrapper[] = [
  { programs: 'command', stops: '-v -V' },
  { programs: 'builtin nohup setsid catchsegv unbuffer fakeroot busybox toybox tini dumb-init dbus-run-session' },
  { programs: 'exec', values: '-a' },
  { programs: 'time', values: '-f -o --format --output' },
  { programs: 'nice', values: '-n --adjustment' },
  { programs: 'ionice', values: '-c -n --class --classdata' },
  { programs: 'chrt taskset', operands: 1 },
  { programs: 'timeout', values: '-k -s --kill-after --signal', operands: 1 },
  { programs: 'stdbuf', values: '-i -o -e --input --output --error' },
  { programs: 'env', values: '-u -C --unset --chdir', assigns: true },
  { programs: 'cross-env dotenv', assigns: true },
  { programs: 'sudo', values: '-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt', assigns: true },
  { programs: 'doas', values: '-u -C' },
  { programs: 'gosu su-exec chroot setarch', operands: 1 },
  { programs: 'runuser setpriv unshare nsenter', values: '-u -t -S -G --user --target' },
  {
    programs: 'xargs',
    values: '-a -d -E -I -L -n -P -s --arg-file --delimiter --max-args --max-chars --max-lines --max-procs',
  },
  { programs: 'parallel', values: '-j -n -N -I --jobs --max-args' },
  { programs: 'flock', values: '-w -E --timeout --conflict-exit-code', operands: 1 },
  { programs: 'strace ltrace', values: '-e -o -p -s -u -E -a -P' },
  { programs: 'xvfb-run', values: '-n -s -e -f -p -w --server-num --server-args' },
  { programs: 'npx pnpx bunx uvx', values: '-p --package --from --with' },
  { programs: 'uv', verbs: 'run', values: '--with --python -p --extra --group --project --directory' },
  { programs: 'poetry pipenv pdm rye hatch', verbs: 'run' },
  { programs: 'npm pnpm yarn bun', verbs: 'exec dlx x' },
  { programs: 'bundle', verbs: 'exec' },
  { programs: 'conda mamba micromamba', verbs: 'run', values: '-n -p --name --prefix --cwd' },
];

export const WRAPPER_OF: ReadonlyMap<string, Wrapper> = new Map(
  WRAPPERS.flatMap((wrapper) => wrapper.programs.split(' ').map((name): [string, Wrapper] => [name, wrapper])),
);

export const SHELLS: ReadonlySet<string> = new Set('sh bash dash ash zsh ksh mksh rbash'.split(' '));

/** Parts of bash itself: what they start is seen or counts as unseen, and they reach nothing else. */
export const BUILTINS: ReadonlySet<string> = new Set(
  '. [ : alias bg break builtin caller cd command continue declare dirs disown echo enable eval exec exit export false fg getopts hash help jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return set shift shopt source test times trap true type typeset ulimit umask unalias unset wait'.split(
    ' ',
  ),
);
