/** What a command file exports, and the options all commands share. */
import type { Command } from 'commander';
import type { WorkspaceOptions } from '../terminal/workspace-folder.ts';

/** How an action says what the exit code is. */
export type Done = (exitCode: number) => void;

export interface CliCommand {
  readonly name: string;
  readonly summary: string;
  /** Adds arguments, options and the action. */
  configure(command: Command, done: Done): void;
}

export interface SharedOptions extends WorkspaceOptions {
  readonly json?: boolean;
}

export function defineCommand(command: CliCommand): CliCommand {
  return command;
}

export function withSharedOptions(command: Command): Command {
  return command
    .option('-w, --workspace <dir>', 'folder every path is relative to', '.')
    .option('--state <dir>', 'folder of journal and key (default: the user state folder)')
    .option(
      '--registry <file>',
      "the operator's registry (default: tool-runtime.yaml of the workspace, or safe defaults)",
    )
    .option('--json', 'machine-readable output, one JSON value per line');
}

/** For commands that write to the journal. */
export function withRuntimeOptions(command: Command): Command {
  return withWitnessOption(withSharedOptions(command)).addOption(
    command
      .createOption('--durability <level>', "raise the registry's level: full waits for the disk in every call")
      .choices(['normal', 'full']),
  );
}

/** From the environment too, so that what is told is also checked. */
export function withWitnessOption(command: Command): Command {
  return command.addOption(
    command
      .createOption('--witness <file>', 'a file elsewhere that is told how far the journal is, and checked by verify')
      .env('TOOL_RUNTIME_WITNESS'),
  );
}
