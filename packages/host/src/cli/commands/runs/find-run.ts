/** The run a person means by its id, or by tool and id. */
import type { RunLocation } from '@tool-runtime/sdk/parts';
import { showError } from '../../../terminal/terminal.ts';
import type { SharedOptions } from '../../command.ts';

/** Undefined, and said why, when there is none or more than one. */
export async function findRun(name: string, options: SharedOptions): Promise<RunLocation | undefined> {
  const [{ findRunLocations }, { stateOf }] = await Promise.all([
    import('@tool-runtime/sdk/parts'),
    import('../../state-of.ts'),
  ]);
  const found = findRunLocations(stateOf(options), name);
  if (found.length === 1) return found[0];
  if (found.length === 0) showError(`No such run: ${name}`, 'run: tool-runtime runs list');
  else showError(`More than one run has this id: ${name}`, `name the tool too: ${found[0]?.tool}/${name}`);
  return undefined;
}
