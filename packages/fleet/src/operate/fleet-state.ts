/**
 * What a host tells of its fleet. Hosts may make no consumers on the streams of others, so the list of hosts is read message
 * by message; what each holds is in its entry.
 */
import type { FleetState } from '@tool-runtime/protocol';
import type { FleetFile } from '../wire/fleet-file.ts';
import { STREAMS } from '../wire/names.ts';
import type { Wire } from '../wire/open-wire.ts';
import { readServers } from '../wire/streams.ts';
import { type HostStatus, listStreams, soon } from './overview.ts';

export async function fleetState(wire: Wire, file: FleetFile): Promise<FleetState> {
  const [servers = [], streams, hosts] = await Promise.all([
    soon(readServers(file)),
    listStreams(wire),
    soon(readHosts(wire)),
  ]);
  return {
    host: file.host ?? '',
    servers: servers.map(({ name, version, address, pid, syncAlways }) => ({
      ...{ name, version, address, sync_always: syncAlways },
      ...(pid === undefined ? {} : { pid }),
    })),
    streams: streams.map(({ name, leader, replicas, behind, messages }) => ({
      ...{ name, replicas, behind: [...behind] },
      ...(leader === undefined ? {} : { leader }),
      ...(messages === undefined ? {} : { messages }),
    })),
    hosts: (hosts ?? []).map(({ host, zone, version, pid, workspaces, held, journals }) => ({
      ...{ host, zone, version, pid },
      workspaces: [...workspaces],
      held: [...held],
      unshipped: journals.reduce((sum, { head, shipped }) => sum + Math.max(0, head - shipped), 0),
    })),
    unread: hosts === undefined ? [STREAMS.hosts] : [],
  };
}

async function readHosts({ jsm }: Wire): Promise<readonly HostStatus[]> {
  const hosts = new Map<string, HostStatus>();
  for (let from = 1; ; ) {
    const next = { seq: from, next_by_subj: '>' };
    const message = await jsm.streams.getMessage(STREAMS.hosts, next);
    if (message === null) break;
    // A host that has left leaves an empty one for a while, and one that writes meanwhile is met again.
    if (message.data.length > 0) {
      const entry = message.json<HostStatus>();
      hosts.set(entry.host, entry);
    }
    from = message.seq + 1;
  }
  return [...hosts.values()].toSorted((one, other) => one.host.localeCompare(other.host));
}
