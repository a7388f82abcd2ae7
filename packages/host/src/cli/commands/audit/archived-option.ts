/** --archived: reading verbs of audit also look into the archives that are still there. */
import type { Command } from 'commander';
import type { SharedOptions } from '../../command.ts';

export interface ArchivedOption extends SharedOptions {
  readonly archived?: boolean;
}

export function withArchivedOption(command: Command): Command {
  return command.option('--archived', 'also records that were moved into archives');
}
