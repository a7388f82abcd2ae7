/**
 * Imports and requires every entry of the installed packages, in a process of their own. An entry that needs an optional
 * peer must work with it, and without it fail with a message that names the peer and the entry.
 */
import { cpSync, existsSync } from 'node:fs';
import path from 'node:path';
import type { Finding } from '../structure/finding.ts';
import type { EntryOutcome } from './consumer/import-entries.ts';
import { packagingFinding } from './packaging-finding.ts';
import { PEER_OF_ENTRY } from './published-packages.ts';
import { mustRun } from './run-program.ts';

export interface EntryTrial {
  /** With the packages in its node_modules. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
}

export async function tryEntries(entries: readonly string[], { folder, env }: EntryTrial): Promise<Finding[]> {
  const program = placeProgram('import-entries', folder);
  const said = await mustRun('node', ['--disable-warning=ExperimentalWarning', program, ...entries], {
    cwd: folder,
    env,
  });
  const outcomes = JSON.parse(said) as EntryOutcome[];
  const hasPeer = (peer: string) => existsSync(path.join(folder, 'node_modules', peer, 'package.json'));
  return outcomes.flatMap((outcome) => {
    const peer = PEER_OF_ENTRY.get(outcome.entry);
    return peer === undefined || hasPeer(peer) ? judgeWorking(outcome) : judgeWithoutPeer(outcome, peer);
  });
}

/** As .mts, so that it runs in any folder, whatever the manifest there says or does not say. */
export function placeProgram(name: string, folder: string): string {
  const target = path.join(folder, `${name}.mts`);
  cpSync(path.join(import.meta.dirname, 'consumer', `${name}.ts`), target);
  return target;
}

function judgeWorking({ entry, names, error }: EntryOutcome): Finding[] {
  if (error !== undefined) return [fail(entry, `${error.code ?? 'No code'}: ${error.message}`, 'Import it and see')];
  return names.length > 0 ? [] : [fail(entry, 'Exports nothing', 'See what its file exports')];
}

/** The words are Node's own: they name what is missing and which of our files asked for it. */
function judgeWithoutPeer({ entry, error }: EntryOutcome, peer: string): Finding[] {
  const [scope, name] = entry.split('/');
  const start = `Cannot find package '${peer}' imported from `;
  const isClear = error?.message.startsWith(start) && error.message.includes(`/${scope}/${name}/dist/`);
  if (error?.code === 'ERR_MODULE_NOT_FOUND' && isClear) return [];
  const what = `Without ${peer}: ${error === undefined ? 'can be imported' : error.message}`;
  return [fail(entry, what, 'Import the peer at the top of a file that no other entry needs')];
}

function fail(entry: string, what: string, next: string): Finding {
  return packagingFinding('entries', entry, what, next);
}
