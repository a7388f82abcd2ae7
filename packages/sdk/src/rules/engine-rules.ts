/**
 * Rules of the catalogue that only code intelligence can check. The ast package brings them along; here is what a registry
 * may know of them without it, so that listing one below blocking is a warning and not an unknown name.
 */
import type { RuleFacts } from '../contracts/rule.ts';

export interface EngineRule extends RuleFacts {
  readonly category: string;
  readonly trigger: string;
  readonly description: string;
}

export const ENGINE_RULES: readonly EngineRule[] = [
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
