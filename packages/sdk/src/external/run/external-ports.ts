/** What the runs of all tools of one source share. */
import { join } from 'node:path';
import type { ExternalToolSettings, ToolCapabilities } from '../../contracts/external.ts';
import type { Registry } from '../../contracts/registry.ts';
import type { ToolSourcePorts } from '../../contracts/tool-source.ts';
import type { ExternalPrograms } from '../../platform/commands/external-process.ts';
import { sha256Hex } from '../../platform/digest.ts';
import type { RunIds } from '../protocol/run-ids.ts';
import type { HostEnvironment } from '../protocol/tool-environment.ts';

export interface ExternalPorts extends Pick<ToolSourcePorts, 'state' | 'root' | 'lock'> {
  /** The host's. */
  readonly environment: HostEnvironment;
  readonly wrapperVersion: string;
  readonly ids: RunIds;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Digest of a program → what it said of itself. */
  readonly probed: Map<string, ToolCapabilities>;
  /** In the sandbox that a registry wants for a tool. */
  programsFor(settings: ExternalToolSettings, registry: Registry): ExternalPrograms;
}

/** Private copies of programs, one folder for each run. */
export function copiesFolder(state: string): string {
  return join(state, 'external', 'exec');
}

/**
 * The folder above `runs/` and `tools/`. Runs with a pack lie together by the pack's name, since they are each other's
 * history.
 */
export function runsFolder(state: string, pack: string | undefined): string {
  const base = join(state, 'external');
  if (pack === undefined) return base;
  const name = pack
    .replace(/^.*\//, '')
    .replace(/[^A-Za-z0-9._-]/g, '_')
    .slice(0, 64);
  return join(base, 'packs', `${sha256Hex(pack).slice(0, 16)}-${name}`);
}
