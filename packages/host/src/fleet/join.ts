/** Joins a fleet for `serve --fleet`. The package of the fleet is loaded here and nowhere else. */
import { realpathSync } from 'node:fs';
import { basename } from 'node:path';
import { ToolError } from '@tool-runtime/protocol';
import type { Log } from '../ops/log.ts';
import type { HostFleet } from './host-fleet.ts';

export interface JoinRequest {
  readonly file: string;
  readonly folders: readonly string[];
  readonly version: string;
  readonly log: Log;
}

export async function joinFleetOf({ file, folders, version, log }: JoinRequest): Promise<HostFleet> {
  const { joinFleet, readFleetFile } = await loadFleet();
  const fleet = readFleetFile(file);
  const real = [...new Set(folders.map((folder) => realpathSync.native(folder)))];
  const names = new Map(real.map((folder, at) => [folder, fleet.workspaces?.[at] ?? (basename(folder) || 'root')]));
  const taken = [...names.values()].find((name, at, all) => all.indexOf(name) !== at);
  if (taken !== undefined) throw nameTwice(taken);
  const nameOf = (folder: string): string => names.get(folder) ?? basename(folder);
  const member = await joinFleet(fleet, {
    workspaces: [...names.values()],
    version,
    log: (event, fields) => log.info(event, fields),
  });
  return {
    nameOf,
    ledgerOf: (workspace) => member.ledgerOf(workspace),
    maxCalls: fleet.limits.calls,
    holds: (workspace) => member.holds(workspace),
    forward: (request, to) => member.forward(request, to),
    serveApprovals: (answer) => member.serveApprovals(answer),
    askApprovals: (question) => member.askApprovals(question),
    budgetOf: (workspace) => member.budgetOf(workspace),
    artifactsOf: (workspace, local) => member.artifactsOf(workspace, local),
    serve: (accept) => member.serve(accept),
    ship(workspace, runtime) {
      const { journalId } = runtime();
      member.ship(workspace, {
        journalId,
        read: (filter) => runtime().records(filter),
        head: () => runtime().head().seq,
      });
    },
    state: () => member.state(),
    putPackage: (text) => member.putPackage(text),
    takeChild: (child) => member.takeChild(child),
    drain: () => member.drain(),
    close: () => member.close(),
  };
}

/** Two folders under one name would share the calls and the lease of one workspace. */
function nameTwice(name: string): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Two folders have the same name in the fleet: ${name}`, {
    path: 'workspaces',
    details: {
      reason: 'invalid_fleet_file',
      next: 'give each folder a name of its own with workspaces: [...] in the fleet file, in the order of the folders',
    },
  });
}

async function loadFleet() {
  try {
    return await import('@tool-runtime/fleet/host');
  } catch (cause) {
    throw new ToolError('E_VALIDATION_FAIL', 'The package @tool-runtime/fleet is not installed', {
      details: { reason: 'package_missing', next: 'npm install @tool-runtime/fleet' },
      cause,
    });
  }
}
