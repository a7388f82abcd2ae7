/** tool-runtime audit: read, follow, check, export, archive and repair the journal. Each verb has its own file. */
import { defineCommand } from '../command.ts';
import { addPrune, addResolve, addRotate } from './audit/archive.ts';
import { addBundle, addOpen } from './audit/bundle.ts';
import { addExport, addList, addShow, addTail } from './audit/read.ts';
import { addTree } from './audit/tree.ts';
import { addVerify } from './audit/verify.ts';

export const audit = defineCommand({
  name: 'audit',
  summary: 'Read, follow, verify, export, bundle and archive the journal; resolve calls that were cut off',
  configure(command, done) {
    for (const add of [
      addList,
      addShow,
      addTree,
      addTail,
      addVerify,
      addExport,
      addBundle,
      addOpen,
      addRotate,
      addPrune,
      addResolve,
    ])
      add(command, done);
  },
});
