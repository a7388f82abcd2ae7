/** tool-runtime audit: read, follow, check and export the journal. Each verb has a file of its own below. */
import { defineCommand } from '../command.ts';
import { addExport } from './audit/export.ts';
import { addList } from './audit/list.ts';
import { addShow } from './audit/show.ts';
import { addTail } from './audit/tail.ts';
import { addVerify } from './audit/verify.ts';

export const audit = defineCommand({
  name: 'audit',
  summary: 'Read, follow, verify and export the journal',
  configure(command, done) {
    for (const add of [addList, addShow, addTail, addVerify, addExport]) add(command, done);
  },
});
