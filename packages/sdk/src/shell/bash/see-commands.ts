/**
 * What can be known of a script before it runs: its simple commands with those inside `bash -c`, `xargs`, `env` and the
 * like, and the parts that only running it can show.
 */
import type { SeenCommand, UnseenPart } from '../../contracts/command-list.ts';
import { joinArgv } from '../join-argv.ts';
import { parseScript } from './parse-script.ts';
import type { RawCommand, ScriptWord } from './script-parts.ts';

/** Programs that start the program named in their arguments, and how to find it there. Data. */
interface Wrapper {
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

const WRAPPER_OF: ReadonlyMap<string, Wrapper> = new Map(
  WRAPPERS.flatMap((wrapper) => wrapper.programs.split(' ').map((name): [string, Wrapper] => [name, wrapper])),
);

const SHELLS: ReadonlySet<string> = new Set('sh bash dash ash zsh ksh mksh rbash'.split(' '));

/** Parts of bash itself: what they start is seen or counts as unseen, and they reach nothing else. */
const BUILTINS: ReadonlySet<string> = new Set(
  '. [ : alias bg break builtin caller cd command continue declare dirs disown echo enable eval exec exit export false fg getopts hash help jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return set shift shopt source test times trap true type typeset ulimit umask unalias unset wait'.split(
    ' ',
  ),
);

export interface ScriptView {
  readonly seen: readonly SeenCommand[];
  readonly unseen: readonly UnseenPart[];
}

const MAX_NESTING = 8;
const MAX_SEEN = 2000;
const SYSTEM_PROGRAM = /^\/(?:usr\/)?(?:local\/)?s?bin\/[^/]+$/;
const ASSIGNMENT = /^[A-Za-z_]\w*=/;

export function seeScript(text: string): ScriptView {
  const view = new View();
  view.addScript(text, { column: 0, depth: 0, outer: undefined });
  return view;
}

/** One command whose words are known. */
export function seeArgv(argv: readonly string[], column = 1): ScriptView {
  const view = new View();
  const words = argv.map((text) => ({ raw: text, text }));
  view.addCommand({ words, input: undefined, at: column - 1 }, { column: 0, depth: 0, outer: undefined });
  return view;
}

interface Spot {
  /** Where the text begins in the whole script. */
  readonly column: number;
  readonly depth: number;
  readonly outer: SeenCommand | undefined;
}

class View implements ScriptView {
  readonly seen: SeenCommand[] = [];
  readonly unseen: UnseenPart[] = [];
  readonly #functions = new Set<string>();

  addScript(text: string, spot: Spot): void {
    if (spot.depth > MAX_NESTING) {
      this.#hide('syntax', text, spot.column);
      return;
    }
    const { commands, functions, evaluated, problem } = parseScript(text);
    for (const name of functions) this.#functions.add(name);
    for (const command of commands) this.addCommand(command, spot);
    for (const at of evaluated) this.#hide('eval', text.slice(at, at + 80), spot.column + at);
    if (problem !== undefined) this.#hide('syntax', problem.message, spot.column + problem.at);
  }

  addCommand(command: RawCommand, spot: Spot): void {
    const [first, ...args] = command.words;
    if (first === undefined) return;
    const at = spot.column + command.at;
    const raw = command.words.map((word) => word.raw).join(' ');
    if (first.text === undefined || this.seen.length >= MAX_SEEN) {
      this.#hide(first.text === undefined ? 'computed_name' : 'syntax', raw, at);
      return;
    }
    const inside = this.#insideOf(first.text, args, command);
    const seen: SeenCommand = {
      argv: command.words.map((word) => word.text ?? word.raw),
      text: command.words.map((word) => (word.text === undefined ? word.raw : joinArgv([word.text]))).join(' '),
      column: at + 1,
      isTransparent: isOpen(inside) || BUILTINS.has(first.text) || this.#functions.has(first.text),
      outer: spot.outer,
    };
    this.seen.push(seen);
    const inner = { column: at, depth: spot.depth + 1, outer: seen };
    for (const words of inside.commands) {
      if (inner.depth > MAX_NESTING) this.#hide('syntax', raw, at);
      else this.addCommand({ words, input: command.input, at: 0 }, inner);
    }
    for (const text of inside.scripts) this.addScript(text, inner);
    for (const reason of inside.unseen) this.unseen.push({ reason, text: raw, column: at + 1, command: seen });
  }

  #insideOf(program: string, args: readonly ScriptWord[], command: RawCommand): Inside {
    if (program.includes('/') && !SYSTEM_PROGRAM.test(program)) return hidden('script');
    const name = program.slice(program.lastIndexOf('/') + 1);
    const wrapper = WRAPPER_OF.get(name);
    if (wrapper !== undefined) return insideWrapper(wrapper, args);
    if (SHELLS.has(name)) return insideShell(args, command);
    const special = Object.hasOwn(SPECIAL, name) ? SPECIAL[name] : undefined;
    return special === undefined ? NOTHING : special(args);
  }

  #hide(reason: UnseenPart['reason'], text: string, at: number): void {
    this.unseen.push({ reason, text, column: at + 1, command: undefined });
  }
}

/** What a command starts, as far as its words tell. */
interface Inside {
  readonly commands: readonly (readonly ScriptWord[])[];
  readonly scripts: readonly string[];
  readonly unseen: readonly UnseenPart['reason'][];
  /** It does something itself, in addition to starting others. */
  readonly isMore?: true;
}

const NOTHING: Inside = { commands: [], scripts: [], unseen: [] };

function hidden(reason: UnseenPart['reason']): Inside {
  return { ...NOTHING, unseen: [reason] };
}

function isOpen({ commands, scripts, isMore }: Inside): boolean {
  return isMore !== true && commands.length + scripts.length > 0;
}

function insideWrapper(wrapper: Wrapper, args: readonly ScriptWord[]): Inside {
  const { verbs, operands = 0 } = wrapper;
  const isVerb = verbs === undefined || verbs.split(' ').includes(args[0]?.text ?? '');
  if (!isVerb) return NOTHING;
  const rest = afterOptions(wrapper, verbs === undefined ? args : args.slice(1));
  if (rest === undefined) return NOTHING;
  if (rest === 'split') return hidden('eval');
  const behind = rest.slice(operands);
  const from = wrapper.assigns === true ? behind.findIndex(({ raw }) => !ASSIGNMENT.test(raw)) : 0;
  const words = from === -1 ? [] : behind.slice(from);
  return words.length === 0 ? NOTHING : { ...NOTHING, commands: [words] };
}

/** `split`: `env -S` takes one text apart by rules of its own. Undefined: no program is started. */
function afterOptions(
  { values = '', stops = '', assigns }: Wrapper,
  args: readonly ScriptWord[],
): readonly ScriptWord[] | 'split' | undefined {
  const [taking, stopping] = [values.split(' '), stops.split(' ')];
  for (let at = 0; at < args.length; at++) {
    const word = args[at]?.text;
    if (word === '--') return args.slice(at + 1);
    if (word === undefined || !word.startsWith('-') || word === '-') return args.slice(at);
    if (stopping.includes(word)) return undefined;
    if (assigns === true && /^(?:-[A-Za-z]*S|--split-string)/.test(word)) return 'split';
    if (taking.includes(word)) at++;
  }
  return [];
}

/** `-c` may be bundled, and the script is the first word that is no option. */
function insideShell(args: readonly ScriptWord[], { input }: RawCommand): Inside {
  let isScript = false;
  let readsInput = false;
  for (let at = 0; at < args.length; at++) {
    const word = args[at]?.text;
    const isOption = word !== undefined && /^[-+]./.test(word);
    if (!isOption) {
      if (!isScript) return readsInput ? insideInput(input) : hidden('script');
      return word === undefined ? hidden('eval') : { ...NOTHING, scripts: [word] };
    }
    if (/^-[A-Za-z]*c/.test(word)) isScript = true;
    if (/^-[A-Za-z]*s/.test(word)) readsInput = true;
    if (/^[-+][A-Za-z]*[oO]$|^--(?:rcfile|init-file)$/.test(word)) at++;
  }
  return isScript ? NOTHING : insideInput(input);
}

function insideInput(input: RawCommand['input']): Inside {
  return input?.body === undefined ? hidden('input') : { ...NOTHING, scripts: [input.body] };
}

/** The words joined by blanks are a script. */
function insideText(words: readonly ScriptWord[]): Inside {
  if (words.length === 0) return NOTHING;
  if (words.some(({ text }) => text === undefined)) return hidden('eval');
  return { ...NOTHING, scripts: [words.map(({ text }) => text).join(' ')] };
}

/** `find … -exec program … ;` starts the program; find itself may also delete. */
function insideFind(args: readonly ScriptWord[]): Inside {
  const commands: ScriptWord[][] = [];
  let open: ScriptWord[] | undefined;
  for (const word of args) {
    if (open === undefined) {
      if (/^-(?:exec|execdir|ok|okdir)$/.test(word.text ?? '')) open = [];
    } else if (word.text === ';' || (word.text === '+' && open.at(-1)?.text === '{}')) {
      commands.push(open);
      open = undefined;
    } else open.push(word);
  }
  return { ...NOTHING, commands: open === undefined ? commands : [...commands, open], isMore: true };
}

/** The value of `-c` is a script. */
function insideOption(args: readonly ScriptWord[]): Inside {
  const at = args.findIndex(({ text }) => text === '-c' || text === '--command');
  const word = at === -1 ? undefined : args[at + 1];
  return word === undefined ? hidden('input') : insideText([word]);
}

function insideTrap(args: readonly ScriptWord[]): Inside {
  const [action, ...signals] = args.filter(({ text }) => text !== '--');
  const isReset = signals.length === 0 || action?.text === '-' || action?.text?.startsWith('-') === true;
  return action === undefined || isReset ? NOTHING : { ...insideText([action]), isMore: true };
}

const SPECIAL: Readonly<Record<string, (args: readonly ScriptWord[]) => Inside>> = {
  eval: insideText,
  watch: (args) => {
    const rest = afterOptions({ programs: '', values: '-n --interval' }, args);
    return rest === undefined || rest === 'split' ? NOTHING : insideText(rest);
  },
  trap: insideTrap,
  find: insideFind,
  su: insideOption,
  script: insideOption,
  '.': () => hidden('script'),
  source: () => hidden('script'),
  alias: (args) => (args.some(({ raw }) => raw.includes('=')) ? hidden('alias') : NOTHING),
  hash: (args) => (args.some(({ text }) => text?.startsWith('-') ?? true) ? hidden('alias') : NOTHING),
  enable: (args) => (args.length === 0 ? NOTHING : hidden('alias')),
};
