/** tool-runtime token: the tokens of the host's token file. Each verb has a file of its own below. */
import { defineCommand } from '../command.ts';
import { addAdd } from './token/add.ts';
import { addList } from './token/list.ts';
import { addRevoke } from './token/revoke.ts';

export const token = defineCommand({
  name: 'token',
  summary: 'List, add and revoke the tokens clients of the host use',
  configure(command, done) {
    for (const add of [addList, addAdd, addRevoke]) add(command, done);
  },
});
