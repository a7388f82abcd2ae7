/** tool-runtime external: everything about external tools. `run`, `runs`, `tool` and `lock` are older names of its parts. */
import { defineCommand } from '../command.ts';
import { lock } from './lock.ts';
import { run } from './run.ts';
import { runs } from './runs.ts';
import { tool } from './tool.ts';

export const external = defineCommand({
  name: 'external',
  summary: 'Run external tools, look at their runs, check a program of yours, pin them by digest',
  configure(command, done) {
    for (const { name, summary, configure } of [run, lock]) configure(command.command(name).description(summary), done);
    for (const { configure } of [runs, tool]) configure(command, done);
  },
});
