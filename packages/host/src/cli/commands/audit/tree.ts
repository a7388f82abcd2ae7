/** audit tree: which session opened which child, with what, and how each of them ended. */
import type { Command } from 'commander';
import type { FamilyMember } from '../../../records/families.ts';
import { badUsage } from '../../../terminal/bad-usage.ts';
import { printJson, printLine, showError } from '../../../terminal/terminal.ts';
import { type Done, withSharedOptions } from '../../command.ts';
import { withJournal } from '../../open-journal.ts';
import { type ArchivedOption, withArchivedOption } from './read.ts';

export function addTree(command: Command, done: Done): void {
  withArchivedOption(
    withSharedOptions(
      command.command('tree').description('Sessions with their children: what each was given, did, and how it ended'),
    ),
  )
    .argument('[session]', 'session id or its beginning (default: every session with children)')
    .action(async (session: string | undefined, options: ArchivedOption) => {
      const found = await membersToShow(session, options);
      if (options.json === true) for (const member of found) printJson(member, { compact: true });
      else await printFamilies(found, session);
      done(session !== undefined && found.length === 0 ? 1 : 0);
    });
}

async function membersToShow(session: string | undefined, options: ArchivedOption): Promise<readonly FamilyMember[]> {
  const { findMembers, readFamilies } = await import('../../../records/families.ts');
  const { archived = false } = options;
  const families = await withJournal(options, (journal) => readFamilies(journal, { archived }));
  if (session === undefined) return families.filter(({ children }) => children.length > 0);
  const found = findMembers(families, session);
  if (found.length > 1)
    throw badUsage(`More than one session id begins with: ${session}`, 'give more characters of the id');
  if (found.length === 0)
    showError(`No such session: ${session}`, archived ? undefined : 'search the archives too: --archived');
  return found;
}

async function printFamilies(members: readonly FamilyMember[], session: string | undefined): Promise<void> {
  const { familyLines } = await import('../../family-tree.ts');
  for (const member of members) for (const line of familyLines(member)) printLine(line);
  if (members.length === 0 && session === undefined) printLine('no session had children');
}
