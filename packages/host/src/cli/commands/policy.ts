/** tool-runtime policy: rehearse a registry. Each verb has its own file; none of them runs a tool or writes a record. */
import { defineCommand } from '../command.ts';
import { addCheck } from './policy/check.ts';
import { addDiff } from './policy/diff.ts';
import { addExplain } from './policy/explain.ts';
import { addSimulate } from './policy/simulate.ts';
import { addSuggest } from './policy/suggest.ts';

export const policy = defineCommand({
  name: 'policy',
  summary: 'Rehearse a registry: explain a call, check examples, simulate and compare registries, suggest one',
  configure(command, done) {
    for (const add of [addExplain, addCheck, addSimulate, addSuggest, addDiff]) add(command, done);
  },
});
