/**
 * Many hosts in one process, each with its own connection, lease and entry, as `serve --fleet` has them, and nothing behind
 * them. Prints a line of JSON when everything is held, and one after the time it holds.
 */
import { readFileSync } from 'node:fs';
import { type FleetMember, joinFleet, readFleetFile } from '@tool-runtime/fleet/host';

export interface CrowdPlan {
  /** One fleet file for each host. */
  readonly files: readonly string[];
  readonly workspacesEach: number;
  /** Of the first workspace. */
  readonly firstWorkspace: number;
  readonly holdMs: number;
}

export interface CrowdLine {
  readonly phase: 'held' | 'kept';
  readonly hosts: number;
  readonly workspaces: number;
  /** How often a host lost a workspace since then. */
  readonly lost: number;
  readonly tookMs: number;
}

const AT_ONCE = 20;

async function main(planFile: string): Promise<void> {
  const plan = JSON.parse(readFileSync(planFile, 'utf8')) as CrowdPlan;
  const { files, workspacesEach, firstWorkspace, holdMs } = plan;
  const wanted = files.length * workspacesEach;
  const members: FleetMember[] = [];
  const began = performance.now();
  const count = { held: 0, lost: 0 };
  const full = Promise.withResolvers<void>();
  const log = (event: string): void => {
    if (event === 'workspace_held') count.held += 1;
    if (event === 'workspace_released') count.lost += 1;
    if (count.held === wanted) full.resolve();
  };
  const left = [...files.entries()];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) {
        const [at, file] = next;
        const first = firstWorkspace + at * workspacesEach;
        const workspaces = Array.from({ length: workspacesEach }, (_, index) => `w${first + index}`);
        const member = await joinFleet(readFleetFile(file), { workspaces, version: '0', log });
        await member.serve(() => undefined);
        members.push(member);
      }
    }),
  );
  if (wanted > 0) await full.promise;
  const say = (phase: CrowdLine['phase']): void => {
    const { lost } = count;
    const tookMs = Math.round(performance.now() - began);
    console.log(JSON.stringify({ phase, hosts: members.length, workspaces: wanted, lost, tookMs } satisfies CrowdLine));
  };
  say('held');
  await new Promise((resolve) => setTimeout(resolve, holdMs));
  say('kept');
}

await main(process.argv[2] ?? '');
