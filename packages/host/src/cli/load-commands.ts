/** The command that was named, or all of them for help and for a name nobody knows. */
import * as catalog from './catalog.ts';
import type { CliCommand } from './command.ts';

type Loader = () => Promise<Readonly<Record<string, CliCommand>>>;

export async function loadCommands(named?: string): Promise<readonly CliCommand[]> {
  const loaders = Object.entries<Loader>(catalog);
  const chosen = loaders.filter(([name]) => name === named);
  const commands = await Promise.all(
    (chosen.length === 0 ? loaders : chosen).map(([name, load]) => loaded(name, load)),
  );
  return commands.flat();
}

/** Under the name it has in the catalog; whatever else the file may export is no command. */
async function loaded(name: string, load: Loader): Promise<readonly CliCommand[]> {
  const command = (await load())[name];
  return command === undefined ? [] : [command];
}
