/** ast rename: a declaration and everything that means it. */
import type { Command } from 'commander';
import { type Done, type SharedOptions, withRuntimeOptions } from '../../command.ts';
import { findTarget } from './find-target.ts';
import { showEdit } from './show-edit.ts';
import { type AstSession, withAstSession } from './with-session.ts';

interface RenameOptions extends SharedOptions {
  readonly dryRun?: boolean;
  readonly report?: boolean;
  readonly format?: boolean;
  readonly build?: boolean;
}

export function addRename(command: Command, done: Done): void {
  withRuntimeOptions(command.command('rename').description('Rename a declaration and everything that means it'))
    .argument('<target>', 'name, id, or file:line:col of the declaration')
    .argument('<new-name>', 'its new name')
    .option('--dry-run', 'show the diff and change nothing')
    .option('--report', 'go on when code that bears the old name could not be placed, and list it')
    .option('--format', 'format the files it touches')
    .option('--build', 'take it back when it breaks the build')
    .action(async (target: string, newName: string, options: RenameOptions) => {
      done(await withAstSession(options, (session) => rename({ target, newName }, options, session)));
    });
}

async function rename(
  { target, newName }: { readonly target: string; readonly newName: string },
  options: RenameOptions,
  session: AstSession,
): Promise<number> {
  const node = await findTarget(target, session);
  if (node === undefined) return 1;
  const response = await session.call('ast_edit', {
    operation: 'rename_symbol',
    target_node_id: node.id,
    new_name: newName,
    dry_run: options.dryRun === true,
    ...(options.report === true ? { on_residual: 'report' } : {}),
    ...(options.format === true ? { format_on_save: true } : {}),
    ...(options.build === true ? { validate_build: true } : {}),
  });
  return showEdit(response, options);
}
