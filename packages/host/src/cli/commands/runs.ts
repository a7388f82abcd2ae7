/** tool-runtime runs: look at, prove and clear away the runs of external tools. Each verb has a file of its own below. */
import { defineCommand } from '../command.ts';
import { addList } from './runs/list.ts';
import { addPrune } from './runs/prune.ts';
import { addShow } from './runs/show.ts';
import { addVerify } from './runs/verify.ts';

export const runs = defineCommand({
  name: 'runs',
  summary: 'List, show, verify and prune the runs of external tools',
  configure(command, done) {
    for (const add of [addList, addShow, addVerify, addPrune]) add(command, done);
  },
});
