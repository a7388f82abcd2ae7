/** ast rewrite: code that looks like a pattern, replaced. */
import type { Command } from 'commander';
import { type Done, type SharedOptions, withRuntimeOptions } from '../../command.ts';
import { wholeNumber } from '../../whole-number.ts';
import { showEdit } from './show-edit.ts';
import { withAstSession } from './with-session.ts';

interface RewriteOptions extends SharedOptions {
  readonly lang?: string;
  readonly path?: readonly string[];
  readonly maxMatches?: number;
  readonly dryRun?: boolean;
}

export function addRewrite(command: Command, done: Done): void {
  withRuntimeOptions(command.command('rewrite').description('Replace code that looks like a pattern'))
    .argument('<pattern>', 'code with $NAME for one piece and $$$NAME for several')
    .argument('<replacement>', 'code with the same names')
    .option('--lang <language>', "language of the pattern (default: the registry's)")
    .option('--path <globs...>', 'only in these files')
    .option('--max-matches <count>', 'refuse to change more places', wholeNumber('--max-matches', 1))
    .option('--dry-run', 'show the diff and change nothing')
    .action(async (pattern: string, replacement: string, options: RewriteOptions) => {
      const args = {
        operation: 'rewrite',
        pattern,
        replacement,
        dry_run: options.dryRun === true,
        ...(options.lang === undefined ? {} : { language: options.lang }),
        ...(options.path === undefined ? {} : { paths: options.path }),
        ...(options.maxMatches === undefined ? {} : { max_matches: options.maxMatches }),
      };
      done(await withAstSession(options, async ({ call }) => showEdit(await call('ast_edit', args), options)));
    });
}
