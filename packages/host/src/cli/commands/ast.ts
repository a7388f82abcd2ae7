/** tool-runtime ast: outline, search and change code by its structure. Each verb has a file of its own below. */
import { defineCommand } from '../command.ts';
import { addGenerate, addRename, addRewrite } from './ast/edit.ts';
import { addFind, addOutline, addRefs } from './ast/search.ts';

export const ast = defineCommand({
  name: 'ast',
  summary: 'Outline, search, rename and rewrite code by its structure',
  configure(command, done) {
    for (const add of [addOutline, addFind, addRefs, addRename, addRewrite, addGenerate]) add(command, done);
  },
});
