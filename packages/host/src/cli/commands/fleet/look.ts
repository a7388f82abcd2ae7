/** fleet status, hosts, workspaces, calls and drain. */
import type { FleetStatus } from '@tool-runtime/fleet/operate';
import type { Command } from 'commander';
import { paint, plainText, printJson, printLine } from '../../../terminal/terminal.ts';
import type { Done } from '../../command.ts';
import { type FleetVerbOptions, loadOperate, printRows, withFleetOptions } from './load.ts';

export function addStatus(command: Command, done: Done): void {
  withFleetOptions(
    command.command('status').description('Servers with their pids, streams with their leaders, hosts and workspaces'),
  )
    .option('--prometheus', 'as metrics, for a collector that reads files')
    .action(async ({ fleet, json, prometheus }: FleetVerbOptions & { readonly prometheus?: boolean }) => {
      const { readFleetFile, withWire, fleetStatus, fleetMetrics, openCallsNow } = await loadOperate();
      const file = readFleetFile(fleet);
      const [status, open] = await withWire(file, (wire) =>
        Promise.all([fleetStatus(wire, file), prometheus === true ? openCallsNow(wire) : undefined]),
      );
      if (prometheus === true) process.stdout.write(fleetMetrics(status, open, Date.now()));
      else if (json === true) printJson(status, { compact: true });
      else for (const line of describeStatus(status)) printLine(line);
      done(isHealthy(status) ? 0 : 1);
    });
}

function isHealthy({ servers, streams, unread }: FleetStatus): boolean {
  const isSafe = servers.every(({ syncAlways, jetstream }) => !jetstream || syncAlways);
  return (
    isSafe &&
    unread.length === 0 &&
    streams.every(({ leader, behind, replicas }) => behind.length === 0 && (replicas === 1 || leader !== undefined))
  );
}

function describeStatus({ servers, streams, hosts, workspaces, unread }: FleetStatus): readonly string[] {
  const held = new Map(workspaces.map((lease) => [lease.workspace, lease.host]));
  return [
    ...servers.map(
      ({ name, version, address, pid, syncAlways }) =>
        `server     ${plainText(name)}  ${plainText(address)}  ${plainText(version)}  pid ${pid ?? 'unknown'}  ${syncAlways ? 'sync always' : paint('red', 'not synced')}`,
    ),
    ...streams.map(({ name, leader, replicas, behind, messages }) => {
      const late = behind.length === 0 ? '' : `  ${paint('yellow', `behind: ${plainText(behind.join(', '))}`)}`;
      return `stream     ${plainText(name)}  leader ${plainText(leader ?? (replicas === 1 ? 'the one server' : 'none'))}  ${replicas} replicas  ${messages ?? 'unknown number of'} messages${late}`;
    }),
    ...unread.map((name) =>
      paint('yellow', `not read   ${plainText(name)}: it does not answer now, as after the loss of its leader`),
    ),
    ...hosts.map(
      ({ host, zone, pid, version }) =>
        `host       ${plainText(host)}  zone ${plainText(zone)}  ${plainText(version)}  pid ${pid}`,
    ),
    ...[...held].map(([workspace, host]) => `workspace  ${plainText(workspace)}  held by ${plainText(host)}`),
  ];
}

export function addHosts(command: Command, done: Done): void {
  withFleetOptions(command.command('hosts').description('Hosts that are there, what they serve and hold')).action(
    async ({ fleet, json }: FleetVerbOptions) => {
      const { readFleetFile, withWire, listHosts } = await loadOperate();
      const hosts = await withWire(readFleetFile(fleet), listHosts);
      const lines = hosts.map(({ host, zone, pid, version, held, journals }) => {
        const unshipped = journals.reduce((sum, { head, shipped }) => sum + Math.max(0, head - shipped), 0);
        return [
          host,
          `zone ${zone}`,
          version,
          `pid ${pid}`,
          `holds ${held.join(', ') || 'nothing'}`,
          `${unshipped} records to ship`,
        ];
      });
      printRows(hosts, lines, json === true);
      done(0);
    },
  );
}

export function addWorkspaces(command: Command, done: Done): void {
  withFleetOptions(command.command('workspaces').description('Workspaces that a host holds now')).action(
    async ({ fleet, json }: FleetVerbOptions) => {
      const { readFleetFile, withWire, listWorkspaces } = await loadOperate();
      const found = await withWire(readFleetFile(fleet), listWorkspaces);
      const lines = found.map(({ workspace, host, zone, epoch }) => [
        workspace,
        host,
        `zone ${zone}`,
        `epoch ${epoch}`,
      ]);
      printRows(found, lines, json === true);
      done(0);
    },
  );
}

export function addCalls(command: Command, done: Done): void {
  withFleetOptions(
    command.command('calls').description('Calls that were begun and have no outcome yet, oldest first'),
  ).action(async ({ fleet, json }: FleetVerbOptions) => {
    const { readFleetFile, withWire, listOpenCalls } = await loadOperate();
    const open = await withWire(readFleetFile(fleet), listOpenCalls);
    const lines = open.map(({ call_id, workspace, host, tool, since_ms, parked }) => [
      call_id,
      workspace,
      host,
      tool,
      `since ${new Date(since_ms).toISOString()}${parked ? ', parked' : ''}`,
    ]);
    printRows(open, lines, json === true);
    done(0);
  });
}

export function addDrain(command: Command, done: Done): void {
  withFleetOptions(
    command
      .command('drain')
      .argument('<host>', 'name of the host')
      .description('Let a host give its workspaces to others and take none; its running calls end first on their own'),
  )
    .option('--undo', 'let it take workspaces again')
    .action(async (host: string, { fleet, json, undo }: FleetVerbOptions & { readonly undo?: boolean }) => {
      const { readFleetFile, withWire, drainHost } = await loadOperate();
      await withWire(readFleetFile(fleet), (wire) => drainHost(wire, host, undo === true));
      if (json === true) printJson({ host, drained: undo !== true }, { compact: true });
      else
        printLine(
          undo === true
            ? `${plainText(host)} takes workspaces again`
            : `${plainText(host)} holds no workspace any more`,
        );
      done(0);
    });
}
