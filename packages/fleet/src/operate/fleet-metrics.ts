/** The state of a fleet as Prometheus text, for a collector that reads files. `examples/deploy/fleet/alerts.yml` is over these. */
import { STREAMS } from '../wire/names.ts';
import type { FleetStatus, OpenCallStatus } from './overview.ts';

const HELP = {
  status_time_seconds: 'When this was read, by the clock of the reader',
  servers: 'Servers that answered',
  servers_unsafe: 'Servers that acknowledge records before they are on disk',
  stream_has_leader: '1 when the stream has a leader',
  stream_replicas_behind: 'Replicas that are behind or gone',
  stream_bytes: 'Size of the stream on each replica',
  hosts: 'Hosts in the fleet',
  workspaces_held: 'Workspaces that a host holds',
  records_unshipped: 'Records of a host that the fleet does not have yet',
  calls_open: 'Calls that were begun and have no outcome',
  calls_parked: 'Calls that no host begins any more',
} as const;

interface Sample {
  readonly name: keyof typeof HELP;
  readonly value: number;
  readonly labels?: Readonly<Record<string, string>>;
}

export function fleetMetrics(status: FleetStatus, open: readonly OpenCallStatus[] | undefined, nowMs: number): string {
  const { servers, streams, hosts, workspaces, unread } = status;
  // What is not known has no sample: zero would be a figure like any other.
  const isRead = (stream: string): boolean => !unread.includes(stream);
  const samples: Sample[] = [
    { name: 'status_time_seconds', value: Math.floor(nowMs / 1000) },
    { name: 'servers', value: servers.length },
    { name: 'servers_unsafe', value: servers.filter(({ jetstream, syncAlways }) => jetstream && !syncAlways).length },
    ...streams.map(({ name, leader, replicas }) => ({
      name: 'stream_has_leader' as const,
      labels: { stream: name },
      value: leader !== undefined || replicas === 1 ? 1 : 0,
    })),
    ...streams.map(({ name, behind }) => ({
      name: 'stream_replicas_behind' as const,
      labels: { stream: name },
      value: behind.length,
    })),
    ...streams.flatMap(({ name, bytes }) =>
      bytes === undefined ? [] : [{ name: 'stream_bytes' as const, labels: { stream: name }, value: bytes }],
    ),
    ...(isRead(STREAMS.hosts) ? [{ name: 'hosts' as const, value: hosts.length }] : []),
    ...(isRead(STREAMS.leases) ? [{ name: 'workspaces_held' as const, value: workspaces.length }] : []),
    ...hosts.map(({ host, journals }) => ({
      name: 'records_unshipped' as const,
      labels: { host },
      value: journals.reduce((sum, { head, shipped }) => sum + Math.max(0, head - shipped), 0),
    })),
    ...(open === undefined
      ? []
      : [
          { name: 'calls_open' as const, value: open.filter(({ parked }) => !parked).length },
          { name: 'calls_parked' as const, value: open.filter(({ parked }) => parked).length },
        ]),
  ];
  const lines = samples.flatMap(({ name, value, labels = {} }, at) => {
    const full = `tool_runtime_fleet_${name}`;
    const pairs = Object.entries(labels).map(([label, text]) => `${label}=${JSON.stringify(text)}`);
    const isFirst = samples.findIndex((sample) => sample.name === name) === at;
    return [
      ...(isFirst ? [`# HELP ${full} ${HELP[name]}`, `# TYPE ${full} gauge`] : []),
      `${full}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`,
    ];
  });
  return `${lines.join('\n')}\n`;
}
