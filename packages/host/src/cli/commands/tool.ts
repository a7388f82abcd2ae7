/** tool-runtime tool: for people who write external tools. Each verb has a file of its own below. */
import { defineCommand } from '../command.ts';
import { addCheck } from './tool/check.ts';

export const tool = defineCommand({
  name: 'tool',
  summary: 'Check a program of yours against the protocol of external tools',
  configure(command, done) {
    // Words after the program are the program's, also those with dashes.
    command.enablePositionalOptions();
    for (const add of [addCheck]) add(command, done);
  },
});
