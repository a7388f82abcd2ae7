/** Run in a folder with the packages installed: imports and requires the named entries, and says as JSON how it went. */
import { createRequire } from 'node:module';

export interface EntryOutcome {
  readonly entry: string;
  readonly names: readonly string[];
  readonly error?: { readonly code: string | undefined; readonly message: string };
}

const require = createRequire(import.meta.url);
const outcomes: EntryOutcome[] = [];
for (const entry of process.argv.slice(2)) outcomes.push(await importEntry(entry));
console.log(JSON.stringify(outcomes));

async function importEntry(entry: string): Promise<EntryOutcome> {
  try {
    const names = Object.keys((await import(entry)) as object);
    require(entry);
    return { entry, names };
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException;
    return { entry, names: [], error: { code, message } };
  }
}
