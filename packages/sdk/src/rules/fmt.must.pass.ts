/** fmt.must.pass: the registry's fmt command succeeds on exactly what would be committed. */
import { defineRule } from '../contracts/rule.ts';
import { checkCommand } from './check-command.ts';

export const fmtMustPass = defineRule({
  id: 'fmt.must.pass',
  category: 'Formatting',
  description: 'The formatter has nothing to change',
  phase: 'on-commit',
  trigger: 'on commit',
  defaultEnforcement: 'blocking',
  needsCommand: 'fmt',
  appliesTo: ({ git }) => git !== undefined,
  check: checkCommand({
    rule: 'fmt.must.pass',
    step: 'fmt',
    title: 'Format',
    whenItWrites: 'use the check mode of the formatter in commands.fmt (--check), and stage what it would change',
  }),
});
