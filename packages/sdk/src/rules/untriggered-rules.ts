/**
 * Rules of the catalogue that only code intelligence can judge, and that no tool of this build causes to run.
 *
 * Registries may list them below blocking today; a rule of the same id that a runtime brings along takes their place.
 */
import type { RuleFacts } from '../contracts/rule.ts';

export interface UntriggeredRule extends RuleFacts {
  readonly category: string;
  readonly trigger: string;
  readonly description: string;
}

export const UNTRIGGERED_RULES: readonly UntriggeredRule[] = [
  {
    id: 'code.fn.docs.exported',
    category: 'Docs',
    defaultEnforcement: 'blocking',
    needs: ['ast'],
    trigger: 'on commit',
    description: 'Exported functions are documented',
  },
  {
    id: 'code.no.panic.in.lib',
    category: 'Safety',
    defaultEnforcement: 'warning',
    needs: ['ast'],
    trigger: 'on commit',
    description: 'Library code does not panic',
  },
  {
    id: 'code.no.unwrap',
    category: 'Safety',
    defaultEnforcement: 'warning',
    needs: ['ast'],
    trigger: 'on commit',
    description: 'No unchecked unwrapping outside tests',
  },
  {
    id: 'code.mod.import.rules',
    category: 'Architecture',
    defaultEnforcement: 'blocking',
    needs: ['ast'],
    trigger: 'on commit',
    description: 'Imports respect the configured boundaries',
  },
];
