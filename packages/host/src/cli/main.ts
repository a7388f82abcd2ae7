/** The tool-runtime command: finds the command, runs it, turns its end into an exit code: 0 done, 1 failed, 2 bad usage. */
import { Command, type CommanderError } from 'commander';
import { hostVersion } from '../ops/host-version.ts';
import { isUsageError } from '../terminal/bad-usage.ts';
import { showError } from '../terminal/terminal.ts';
import * as catalog from './catalog.ts';
import type { CliCommand, Done } from './command.ts';

export async function main(args: readonly string[]): Promise<number> {
  let exitCode = 0;
  tolerateLeavingReaders();
  const program = new Command('tool-runtime')
    .description('Call developer tools on one governed, recorded path')
    .showHelpAfterError('(run with --help for usage)')
    .exitOverride()
    .enablePositionalOptions();
  // The option counts only before a command, and finding the version takes a millisecond.
  if (args[0] === undefined || !Object.hasOwn(catalog, args[0])) program.version(hostVersion(), '-V, --version');
  for (const command of await loadCommands(args[0])) {
    addCommand(program, command, (code) => {
      exitCode = code;
    });
  }
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (thrown) {
    return exitCodeOf(thrown);
  }
}

/** Every command, to read what it takes: nothing runs. */
export async function describedProgram(): Promise<Command> {
  const program = new Command('tool-runtime');
  for (const command of await loadCommands()) addCommand(program, command, () => {});
  return program;
}

/** By groups in the help, with examples of its own. Older names work and are not listed. */
export function addCommand(program: Command, { name, summary, configure }: CliCommand, done: Done): void {
  const help = helpOf(name);
  const command = program.command(name, { hidden: help === undefined }).description(summary);
  configure(command, done);
  if (help === undefined) return;
  const examples = help.examples.map((example) => `  tool-runtime ${example}`);
  command.helpGroup(help.group).addHelpText('after', `\nExamples:\n${examples.join('\n')}`);
}

async function exitCodeOf(thrown: unknown): Promise<number> {
  // Commander has printed its message already; help and version are not mistakes.
  if (isCommanderError(thrown)) return thrown.exitCode === 0 ? 0 : 2;
  if (isUsageError(thrown)) {
    showError(thrown.message, thrown.next);
    return 2;
  }
  const { isToolError, toToolError } = await import('@tool-runtime/protocol');
  const error = toToolError(thrown);
  const next = error.details['next'];
  showError(`${error.code} ${error.message}`, typeof next === 'string' ? next : undefined);
  // An unexpected error is worth a report, and a report needs the stack.
  if (!isToolError(thrown) && thrown instanceof Error) process.stderr.write(`${thrown.stack}\n`);
  return error.code === 'E_INTERNAL' ? 1 : 2;
}

/** By its code: a command may have been loaded with another copy of the library. */
function isCommanderError(thrown: unknown): thrown is CommanderError {
  return thrown instanceof Error && String((thrown as Partial<CommanderError>).code).startsWith('commander.');
}

/** A reader that closes early, such as `head`, is not a failure; Node's default would print a stack trace. */
function tolerateLeavingReaders(): void {
  for (const stream of [process.stdout, process.stderr]) {
    if (stream.listenerCount('error') === 0) stream.on('error', failUnlessClosed);
  }
}

function failUnlessClosed(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}

type Loader = () => Promise<Readonly<Record<string, CliCommand>>>;

/** The command that was named, or all of them for help and for an unknown name. */
export async function loadCommands(named?: string): Promise<readonly CliCommand[]> {
  const loaders = Object.entries<Loader>(catalog);
  const chosen = loaders.filter(([name]) => name === named);
  const commands = await Promise.all(
    (chosen.length === 0 ? loaders : chosen).map(([name, load]) => loaded(name, load)),
  );
  return commands.flat();
}

/** Under the name it has in the catalog; other exports of the file are not commands. */
async function loaded(name: string, load: Loader): Promise<readonly CliCommand[]> {
  const command = (await load())[name];
  return command === undefined ? [] : [command];
}

export const HELP: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'Use tools:': {
    call: [
      'call file_read path=README.md',
      'call grep --pattern TODO --count',
      `call file_write '{"path":"a.txt","content":"hi"}'`,
    ],
    tools: ['tools', 'tools file_read', 'tools --cost'],
    ast: ['ast outline src/index.ts', 'ast rename parse readConfig'],
    validate: ['validate --staged', 'validate --since main src'],
  },
  'Set the policy:': {
    demo: ['demo', 'demo try'],
    init: ['init', 'init --dry-run'],
    trust: ['trust'],
    revoke: ['revoke'],
    doctor: ['doctor', 'doctor --json'],
    policy: ['policy explain file_write path=src/a.ts', 'policy check', 'policy simulate --with new.yaml --since 7d'],
    explain: ['explain E_POLICY', 'explain shell_exec', 'explain limits.max_answer_tokens'],
  },
  'Look back:': {
    changes: ['changes', 'changes show 5f0c', 'changes undo 5f0c src/a.ts'],
    audit: ['audit list', 'audit list --records --kind decision', 'audit verify'],
  },
  'Run a host:': {
    serve: ['serve', 'serve --http 127.0.0.1:7500'],
    console: ['console', 'console --role viewer'],
    status: ['status'],
    stop: ['stop'],
    approvals: ['approvals list'],
    token: ['token list'],
    fleet: ['fleet dev', 'fleet status', 'fleet hosts --json'],
  },
  'Connect:': {
    mcp: ['mcp', 'mcp install claude-code', 'mcp --profile structured'],
    stdio: ['stdio'],
    hook: ['hook install'],
    external: ['external run my-tool', 'external list', 'external check ./my-tool', 'external lock --check'],
    completion: ['completion bash'],
  },
};

interface HelpEntry {
  readonly group: string;
  readonly examples: readonly string[];
}

/** The commands in groups, with examples that a test parses. A command in no group is an older name. */
function helpOf(command: string): HelpEntry | undefined {
  for (const [group, commands] of Object.entries(HELP)) {
    const examples = Object.hasOwn(commands, command) ? commands[command] : undefined;
    if (examples !== undefined) return { group, examples };
  }
  return undefined;
}
