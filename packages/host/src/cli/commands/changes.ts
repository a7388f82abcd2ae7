/** tool-runtime changes: what calls changed in files; shows, undoes, applies and discards change sets with the change tools. */
import type { Command } from 'commander';
import { paint } from '../../terminal/terminal.ts';
import { type Done, defineCommand, type SharedOptions, withRuntimeOptions } from '../command.ts';
import { withInterrupt } from '../interrupt.ts';
import { runCall } from '../make-call.ts';
import { wholeNumber } from '../option-values.ts';

export const changes = defineCommand({
  name: 'changes',
  summary: 'List what calls changed in files; show, undo, apply and discard change sets',
  configure(command, done) {
    for (const add of [addList, addShow, addUndo, addApply, addDiscard]) add(command, done);
  },
});

/** For people unless JSON is asked for: a diff is read in a pager too. */
function ask(tool: string, args: object, options: SharedOptions): Promise<number> {
  const isForPeople = options.json !== true;
  return withInterrupt((signal) => runCall({ tool, args: { args }, options, isForPeople, signal, paint: paintDiff }));
}

function paintDiff(text: string): string {
  const colourOf = (line: string) => {
    if (/^(?:---|\+\+\+) /.test(line)) return paint('bold', line);
    if (line.startsWith('@@')) return paint('cyan', line);
    if (line.startsWith('+')) return paint('green', line);
    return line.startsWith('-') ? paint('red', line) : line;
  };
  return text.split('\n').map(colourOf).join('\n');
}

interface ListOptions extends SharedOptions {
  readonly limit: number;
  readonly status?: string;
}

function addList(command: Command, done: Done): void {
  withRuntimeOptions(command.command('list', { isDefault: true }).description('The newest change sets, newest first'))
    .option('-n, --limit <count>', 'how many', wholeNumber('--limit', 1), 20)
    .option('--status <status>', 'applied, pending, discarded or undone')
    .action(async ({ limit, status, ...options }: ListOptions) =>
      done(await ask('change_list', { limit, ...(status === undefined ? {} : { status }) }, options)),
    );
}

function addShow(command: Command, done: Done): void {
  withRuntimeOptions(command.command('show').description('One change set as a unified diff'))
    .argument('<change>', 'its id')
    .argument('[path]', 'only this file')
    .option('--stat', 'the paths without their content')
    .action(async (change_id: string, path: string | undefined, options: SharedOptions & { readonly stat?: boolean }) =>
      done(
        await ask(
          'change_show',
          {
            change_id,
            ...(path === undefined ? {} : { path }),
            ...(options.stat === true ? { view: 'stat' } : {}),
          },
          options,
        ),
      ),
    );
}

function addUndo(command: Command, done: Done): void {
  withRuntimeOptions(command.command('undo').description('Take a change set back; later changes of others are kept'))
    .argument('<change>', 'its id')
    .argument('[paths...]', 'only these files, or files in these folders')
    .option('--through-now', 'also everything that calls changed after it')
    .action(async (change_id: string, paths: string[], options: SharedOptions & { readonly throughNow?: boolean }) =>
      done(
        await ask(
          'change_undo',
          {
            change_id,
            ...(paths.length === 0 ? {} : { paths }),
            ...(options.throughNow === true ? { through_now: true } : {}),
          },
          options,
        ),
      ),
    );
}

function addApply(command: Command, done: Done): void {
  withRuntimeOptions(command.command('apply').description('Make a pending change set real'))
    .argument('<change>', 'its id')
    .action(async (change_id: string, options: SharedOptions) =>
      done(await ask('change_apply', { change_id }, options)),
    );
}

function addDiscard(command: Command, done: Done): void {
  withRuntimeOptions(command.command('discard').description('Drop a pending change set'))
    .argument('<change>', 'its id')
    .action(async (change_id: string, options: SharedOptions) =>
      done(await ask('change_discard', { change_id }, options)),
    );
}
