/**
 * What to do instead of a line that strict mode refuses: the one step that works, not the next character in the way.
 *
 * The line is read as bash would read it, so the advice is about what the line is for.
 */
import type { SeenCommand } from '../contracts/command-list.ts';
import { seeScript } from './bash/see-commands.ts';
import { joinArgv } from './join-argv.ts';

const OTHER_MODE = 'or ask the operator for shell.mode: sandboxed';

/** Subcommand of git → the tool that does it. */
export const GIT_TOOLS: ReadonlyMap<string, string> = new Map([
  ...'add blame branch checkout commit diff fetch log merge pull push rebase restore show stash status'
    .split(' ')
    .map((name): [string, string] => [name, `git_${name}`]),
  ['switch', 'git_checkout'],
]);

const GIT_ARGUMENTS: Readonly<Record<string, string>> = { commit: ' with message' };

/** The tool for a git command, by its name. */
export function gitAdvice([, ...args]: readonly string[]): string {
  const at = args.findIndex((word, index) => !word.startsWith('-') && !/^-[cC]$/.test(args[index - 1] ?? ''));
  const verb = args[at] ?? '';
  const tool = GIT_TOOLS.get(verb);
  return tool === undefined ? 'use the git tools' : `call ${tool}${GIT_ARGUMENTS[verb] ?? ''}`;
}

/** A pattern that matches this command and nothing else, the only kind that lifts some refusals. */
export function literalPattern(argv: readonly string[]): string {
  return `^${joinArgv(argv).replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`;
}

interface Refused {
  readonly reason: string;
  /** What to do about the character alone. */
  readonly next: string;
}

/** What to do instead of a line whose syntax is refused. */
export function strictAdvice(line: string, { reason, next }: Refused): string {
  const { seen } = seeScript(line);
  const purpose = ADVICE.find(({ fits }) => fits({ line, reason, seen }));
  return `${purpose === undefined ? next : purpose.say({ line, reason, seen })}; ${OTHER_MODE}`;
}

interface Line {
  readonly line: string;
  readonly reason: string;
  readonly seen: readonly SeenCommand[];
}

interface Advice {
  fits(line: Line): boolean;
  say(line: Line): string;
}

function commandOf({ seen }: Line, program: string): SeenCommand | undefined {
  return seen.find(({ argv }) => argv[0] === program);
}

const HEREDOC = /<<-?\s*\\?['"]?\w/;
const FROM_TEXT = /^\s*(?:cat|echo|printf)\b/;
const TO_FILE = /(?:^|[^0-9&>])>>?\s*[^\s&>|;(]/;

/** The first that fits. */
const ADVICE: readonly Advice[] = [
  {
    fits: (line) => commandOf(line, 'git') !== undefined,
    say: (line) => gitAdvice(commandOf(line, 'git')?.argv ?? []),
  },
  {
    fits: (line) => commandOf(line, 'find')?.argv.some((word) => /^-(?:exec|ok)(?:dir)?$/.test(word)) === true,
    say: () =>
      'leave out -exec, which is refused also in quotes: list the files with find, then name them to the program',
  },
  {
    fits: ({ line, reason }) =>
      (reason === 'newline' || reason === 'redirection') && FROM_TEXT.test(line) && TO_FILE.test(line),
    say: () => 'write the file with file_write',
  },
  {
    fits: ({ line, reason }) => (reason === 'newline' || reason === 'redirection') && HEREDOC.test(line),
    say: () => 'pass the text in stdin',
  },
  {
    fits: (line) =>
      ['subshell', 'redirection', 'glob', 'expansion'].includes(line.reason) && commandOf(line, 'cd') !== undefined,
    say: (line) => `give the folder in cwd${folderOf(commandOf(line, 'cd'))}, and the commands without cd`,
  },
  {
    fits: ({ reason }) => reason === 'background',
    say: () => 'start it with yield_after_ms and poll the job with job_poll',
  },
  {
    fits: ({ line, reason }) => reason === 'glob' && /(?:^|[;&|]|\b(?:if|while|then|do))\s*!?\s*\[/.test(line),
    say: () => 'use test, as in test -d x; there is no if: use && and ||',
  },
  {
    fits: ({ reason }) => reason === 'reserved_word',
    say: () => 'there is no if or loop: use && and ||, or one call per command',
  },
  {
    fits: ({ line, reason }) => reason === 'redirection' && /2>&1|&>/.test(line) && !TO_FILE.test(line),
    say: () => 'leave out 2>&1: both streams are returned',
  },
  {
    fits: ({ line, reason }) => reason === 'redirection' && /2>\s*\/dev\/null/.test(line),
    say: () => 'leave out 2>/dev/null: standard error is returned on its own',
  },
  {
    fits: ({ line, reason }) => reason === 'redirection' && TO_FILE.test(line),
    say: () => 'leave the redirection out: the output is returned, and file_write writes files',
  },
  { fits: ({ reason, line }) => reason === 'redirection' && line.includes('<'), say: () => 'pass the text in stdin' },
];

function folderOf(command: SeenCommand | undefined): string {
  const folder = command?.argv[1];
  return folder === undefined || /^[-$~/]/.test(folder) ? '' : ` (${folder})`;
}
