/** lint.must.pass: the registry's lint command succeeds on exactly what would be committed. */
import { defineRule } from '../contracts/rule.ts';
import { checkCommand } from './check-command.ts';

export const lintMustPass = defineRule({
  id: 'lint.must.pass',
  category: 'Lint',
  description: 'The linter passes',
  phase: 'on-commit',
  trigger: 'on commit',
  defaultEnforcement: 'blocking',
  needsCommand: 'lint',
  appliesTo: ({ git }) => git !== undefined,
  check: checkCommand({
    rule: 'lint.must.pass',
    step: 'lint',
    title: 'Lint',
    whenItWrites: 'let commands.lint only report, without its fixing option',
  }),
});
