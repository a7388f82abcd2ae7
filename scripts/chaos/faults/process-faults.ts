/** Processes of tools that die or stop: whichever of a kind is found first. */
import { setTimeout as pause } from 'node:timers/promises';
import { descendantsOf, type ProcessFacts, sendSignal } from '../host/process-tree.ts';
import { between, type Fault, type FaultContext } from './fault.ts';

/** Some live for a few milliseconds only. */
const HUNT_MS = 1500;

const isSearch = ({ name }: ProcessFacts): boolean => name === 'rg';
const isGit = ({ name }: ProcessFacts): boolean => name.startsWith('git');
const isServer = ({ name }: ProcessFacts): boolean => name === 'gopls' || name === 'go';
const isTool = (facts: ProcessFacts): boolean => !isSearch(facts) && !isGit(facts) && !isServer(facts);

async function hunt(
  { keeper, random }: FaultContext,
  isPrey: (facts: ProcessFacts) => boolean,
): Promise<ProcessFacts | undefined> {
  const deadline = performance.now() + HUNT_MS;
  while (performance.now() < deadline) {
    const { host } = keeper;
    const found = host === undefined ? [] : descendantsOf(host.pid).filter(isPrey);
    if (found.length > 0) return random.pick(found);
    await pause(3);
  }
  return undefined;
}

function killing(name: string, weight: number, isPrey: (facts: ProcessFacts) => boolean): Fault {
  return {
    name,
    scope: 'processes',
    weight,
    async inject(context) {
      const prey = await hunt(context, isPrey);
      if (prey === undefined) return false;
      const end = context.timeLine.begin(name, `SIGKILL to ${prey.pid} ${prey.name}`);
      sendSignal(prey.pid, 'SIGKILL');
      end();
      return true;
    },
  };
}

export const killTool = killing('kill-tool', 4, isTool);
export const killSearch = killing('kill-search', 3, isSearch);
export const killGit = killing('kill-git', 4, isGit);
export const killServer = killing('kill-server', 3, isServer);

export const stopTool: Fault = {
  name: 'stop-tool',
  scope: 'processes',
  weight: 3,
  async inject(context) {
    const { random, timeLine } = context;
    const prey = await hunt(context, () => true);
    if (prey === undefined) return false;
    const millis = between(random, 200, 2000);
    const end = timeLine.begin('stop-tool', `SIGSTOP to ${prey.pid} ${prey.name} for ${millis} ms`);
    sendSignal(prey.pid, 'SIGSTOP');
    await pause(millis);
    sendSignal(prey.pid, 'SIGCONT');
    end();
    return true;
  },
};
