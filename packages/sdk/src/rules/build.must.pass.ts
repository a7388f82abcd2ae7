/** build.must.pass: the registry's build command succeeds on exactly what would be committed. */
import { defineRule } from '../contracts/rule.ts';
import { checkCommand } from './check-command.ts';

export const buildMustPass = defineRule({
  id: 'build.must.pass',
  category: 'Build',
  description: 'The build succeeds',
  phase: 'on-commit',
  trigger: 'on commit',
  defaultEnforcement: 'blocking',
  needsCommand: 'build',
  appliesTo: ({ git }) => git !== undefined,
  check: checkCommand({
    rule: 'build.must.pass',
    step: 'build',
    title: 'Build',
    whenItWrites: 'let commands.build write only to ignored files, or commit what it generates',
  }),
});
