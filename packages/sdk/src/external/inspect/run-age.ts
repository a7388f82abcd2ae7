/** How old a run is, by its own id: times of files are the tool's to set. */
import type { Registry } from '../../contracts/registry.ts';

/** What no run is slower than, for tools the registry no longer lists. */
const LONGEST_MS = 86_400_000;
/** Between the end of a tool and its result: outputs are hashed, processes ended. */
const SETTLING_MS = 60_000;

/** Unix milliseconds of a run's beginning. */
export function runStart(runId: string): number {
  const [date = '', time = ''] = runId.split('T');
  const [hours, minutes, seconds, micros = ''] = time.split('-');
  return Date.parse(`${date}T${hours}:${minutes}:${seconds}.${micros.slice(0, 3)}Z`);
}

export type TimeLimits = (tool: string) => number;

/** The longest a run of a tool may take. */
export function timeLimits({ externalTools, tools }: Pick<Registry, 'externalTools' | 'tools'>): TimeLimits {
  return (name) => {
    const own = externalTools.find((tool) => tool.name === name)?.timeout_ms ?? LONGEST_MS;
    const { timeout_ms: usual = own, max_timeout_ms: most = usual } = tools.get(name) ?? {};
    return Math.max(own, usual, most) + SETTLING_MS;
  };
}

/** For a run without a result: whether it may still be going on. */
export function mayBeRunning(
  { tool, runId }: { readonly tool: string; readonly runId: string },
  limits: TimeLimits,
  now: number,
): boolean {
  return now - runStart(runId) < limits(tool);
}
