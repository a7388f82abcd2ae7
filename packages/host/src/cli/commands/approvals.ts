/** tool-runtime approvals: look at the questions that wait on the running host, and answer them. */
import { defineCommand } from '../command.ts';
import { addAllow } from './approvals/allow.ts';
import { addDeny } from './approvals/deny.ts';
import { addList } from './approvals/list.ts';

export const approvals = defineCommand({
  name: 'approvals',
  summary: 'List and answer what waits for a yes on the running host',
  configure(command, done) {
    for (const add of [addList, addAllow, addDeny]) add(command, done);
  },
});
