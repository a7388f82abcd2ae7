/** tool-runtime status: the host of this workspace in numbers. */
import type { HostStatus } from '@tool-runtime/protocol';
import { printJson, printLine } from '../../terminal/terminal.ts';
import { defineCommand, type SharedOptions, withSharedOptions } from '../command.ts';

export const status = defineCommand({
  name: 'status',
  summary: 'Show what the running host of this workspace is doing',
  configure(command, done) {
    withSharedOptions(command).action(async (options: SharedOptions) => {
      const { hostStatusSchema } = await import('@tool-runtime/protocol');
      const { askHost } = await import('../ask-host.ts');
      const { stateOf } = await import('../state-of.ts');
      const answer = hostStatusSchema.parse(await askHost(stateOf(options), { method: 'GET', path: '/v1/status' }));
      if (options.json === true) printJson(answer, { compact: true });
      else for (const line of describe(answer)) printLine(line);
      done(0);
    });
  },
});

function describe(status: HostStatus): readonly string[] {
  return [
    `${status.state}, version ${status.server_version}, process ${status.pid}, up ${duration(status.uptime_ms)}`,
    `${status.sessions} sessions, ${status.connections} connections, ${status.in_flight} calls running`,
    `${status.approvals} approvals waiting, ${Math.round(status.memory_bytes / 1024 / 1024)} MB`,
    ...status.workspaces.map((path) => `workspace ${path}`),
  ];
}

function duration(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes === 0) return `${seconds} s`;
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`;
}
