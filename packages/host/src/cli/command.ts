/** What a command file exports, and the options all commands share. */
import { existsSync } from 'node:fs';
import type { CassetteOptions } from '@tool-runtime/sdk';
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

/** For commands that serve: calls are recorded in a file, or answered from it. */
export function withCassetteOptions(command: Command): Command {
  return command
    .option('--cassette <file>', 'record calls with their answers in this file, or answer them from it')
    .addOption(
      command
        .createOption('--cassette-mode <mode>', 'by default replay when the file exists, and record when it does not')
        .choices(['record', 'replay', 'replay-or-record']),
    )
    .option('--cassette-apply', 'in replay, write recorded file changes to the workspace: name a scratch folder');
}

/** As the runtime wants them. */
export function cassetteOf(options: WorkspaceOptions): { readonly cassette?: CassetteOptions } {
  const { cassette: file, cassetteMode, cassetteApply: applyFiles = false } = options;
  if (file === undefined) return {};
  return { cassette: { file, mode: cassetteMode ?? (existsSync(file) ? 'replay' : 'record'), applyFiles } };
}

/** From the environment too, so that what is told is also checked. */
export function withWitnessOption(command: Command): Command {
  return command.addOption(
    command
      .createOption('--witness <file>', 'a file elsewhere that is told how far the journal is, and checked by verify')
      .env('TOOL_RUNTIME_WITNESS'),
  );
}
