/** No client is connected and nothing runs: what the host still has open beyond what it began with is kept, or lost. */
import { setTimeout as pause } from 'node:timers/promises';
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import type { Problems } from '../../../packages/host/test/load/problems.ts';
import { descriptorKinds } from './descriptor-kinds.ts';
import type { HostProcess } from './host-process.ts';
import { openDescriptors } from './process-tree.ts';

/** A language server, the threads of the parser, the code index, and single connections that still close. */
const MAY_KEEP = 30;
const PATIENCE_MS = 8000;

export async function checkDescriptorsAtRest(
  { pid, firstDescriptors }: HostProcess,
  problems: Problems,
): Promise<void> {
  // Connections that our own requests keep for later are not the host's to close.
  const ours = getGlobalDispatcher();
  setGlobalDispatcher(new Agent());
  await ours.destroy();
  const deadline = performance.now() + PATIENCE_MS;
  while (openDescriptors(pid) > firstDescriptors + MAY_KEEP) {
    if (performance.now() > deadline) {
      const kinds = descriptorKinds(pid).join(', ');
      problems.add(`${openDescriptors(pid)} descriptors at rest, ${firstDescriptors} at the start: ${kinds}`);
      return;
    }
    await pause(200);
  }
}
