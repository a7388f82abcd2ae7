/**
 * Rules of the catalogue whose trigger (a commit, a command, a request) no tool of this build can cause.
 *
 * Registries may list them today; they come into force with the tools that trigger them.
 */
import type { RuleFacts } from '../contracts/rule.ts';

export interface UntriggeredRule extends RuleFacts {
  readonly category: string;
  readonly trigger: string;
  readonly description: string;
}

export const UNTRIGGERED_RULES: readonly UntriggeredRule[] = [
  {
    id: 'sec.git.clean_tree',
    category: 'Git',
    defaultEnforcement: 'blocking',
    always: true,
    trigger: 'commit, push, rebase, merge',
    description: 'No unstaged changes, and the validation passed',
  },
  {
    id: 'build.must.pass',
    category: 'Build',
    defaultEnforcement: 'blocking',
    needsCommand: 'build',
    trigger: 'on commit',
    description: 'The build succeeds',
  },
  {
    id: 'lint.must.pass',
    category: 'Lint',
    defaultEnforcement: 'blocking',
    needsCommand: 'lint',
    trigger: 'on commit',
    description: 'The linter passes',
  },
  {
    id: 'fmt.must.pass',
    category: 'Formatting',
    defaultEnforcement: 'blocking',
    needsCommand: 'fmt',
    trigger: 'on commit',
    description: 'The formatter has nothing to change',
  },
  {
    id: 'code.todo.blockers',
    category: 'Hygiene',
    defaultEnforcement: 'blocking',
    trigger: 'on commit',
    description: 'No TODO or FIXME in changed lines on protected branches',
  },
  {
    id: 'test.required.changed',
    category: 'Testing',
    defaultEnforcement: 'blocking',
    trigger: 'on commit',
    description: 'A code change comes with a test change, or with a recorded override',
  },
  {
    id: 'secrets.scan',
    category: 'Security',
    defaultEnforcement: 'blocking',
    trigger: 'on commit',
    description: 'Staged content holds no secrets',
  },
  {
    id: 'code.fn.docs.exported',
    category: 'Docs',
    defaultEnforcement: 'blocking',
    trigger: 'on commit',
    description: 'Exported functions are documented',
  },
  {
    id: 'code.no.panic.in.lib',
    category: 'Safety',
    defaultEnforcement: 'warning',
    trigger: 'on commit',
    description: 'Library code does not panic',
  },
  {
    id: 'code.no.unwrap',
    category: 'Safety',
    defaultEnforcement: 'warning',
    trigger: 'on commit',
    description: 'No unchecked unwrapping outside tests',
  },
  {
    id: 'code.mod.import.rules',
    category: 'Architecture',
    defaultEnforcement: 'blocking',
    trigger: 'on commit',
    description: 'Imports respect the configured boundaries',
  },
  {
    id: 'commit.message.conventional',
    category: 'Git',
    defaultEnforcement: 'warning',
    trigger: 'commit',
    description: 'The message follows Conventional Commits',
  },
  {
    id: 'branch.naming.convention',
    category: 'Git',
    defaultEnforcement: 'warning',
    trigger: 'checkout',
    description: 'New branches follow the naming pattern',
  },
];
