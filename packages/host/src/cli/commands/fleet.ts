/** tool-runtime fleet: try, look at and look after a fleet. Each group of verbs has its own file. */
import { defineCommand } from '../command.ts';
import { addCall } from './fleet/call.ts';
import { addDev } from './fleet/dev.ts';
import { addCalls, addDrain, addHosts, addStatus, addWorkspaces } from './fleet/look.ts';
import { addAudit, addSink } from './fleet/records.ts';

export const fleet = defineCommand({
  name: 'fleet',
  summary: 'Many hosts as one: start one for development, list its servers, hosts, workspaces and open calls',
  configure(command, done) {
    for (const add of [addDev, addCall, addStatus, addHosts, addWorkspaces, addCalls, addDrain, addAudit, addSink])
      add(command, done);
  },
});
