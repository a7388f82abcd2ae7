/** tool-runtime audit: read, follow, check, export, archive and mend the journal. Each verb has a file of its own below. */
import { defineCommand } from '../command.ts';
import { addExport } from './audit/export.ts';
import { addList } from './audit/list.ts';
import { addPrune } from './audit/prune.ts';
import { addResolve } from './audit/resolve.ts';
import { addRotate } from './audit/rotate.ts';
import { addShow } from './audit/show.ts';
import { addTail } from './audit/tail.ts';
import { addTree } from './audit/tree.ts';
import { addVerify } from './audit/verify.ts';

export const audit = defineCommand({
  name: 'audit',
  summary: 'Read, follow, verify, export and archive the journal; resolve calls that were cut off',
  configure(command, done) {
    for (const add of [addList, addShow, addTree, addTail, addVerify, addExport, addRotate, addPrune, addResolve])
      add(command, done);
  },
});
