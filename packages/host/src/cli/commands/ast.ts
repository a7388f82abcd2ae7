/** tool-runtime ast: outline, search and change code by its structure. Each verb has a file of its own below. */
import { defineCommand } from '../command.ts';
import { addFind } from './ast/find.ts';
import { addGenerate } from './ast/generate.ts';
import { addOutline } from './ast/outline.ts';
import { addRefs } from './ast/refs.ts';
import { addRename } from './ast/rename.ts';
import { addRewrite } from './ast/rewrite.ts';

export const ast = defineCommand({
  name: 'ast',
  summary: 'Outline, search, rename and rewrite code by its structure',
  configure(command, done) {
    for (const add of [addOutline, addFind, addRefs, addRename, addRewrite, addGenerate]) add(command, done);
  },
});
