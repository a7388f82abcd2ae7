/** What the steps of a move share. */
import type { NodeFact } from '../../contracts/facts.ts';
import type { Reference } from '../../scope/find-references.ts';
import type { Draft } from '../draft.ts';
import type { Target } from '../edit-desk.ts';
import type { OperationOf } from '../edit-operations.ts';
import type { MoveForms } from '../edit-profile.ts';
import type { ModuleNames } from './module-names.ts';
import type { NeededNames } from './needed-names.ts';

export interface Moving {
  readonly target: Target;
  readonly to: Draft;
  readonly forms: MoveForms;
  readonly names: ModuleNames;
  readonly needed: NeededNames;
  /** None where files of a folder need no imports from each other. */
  readonly references: readonly Reference[];
  /** The old file goes on using what is moved. */
  readonly isUsedHere: boolean;
  readonly operation: OperationOf<'move_symbol'>;
}

export function isType({ type }: NodeFact): boolean {
  return type === 'interface' || type === 'type';
}
