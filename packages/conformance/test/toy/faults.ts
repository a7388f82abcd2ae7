/** Every broken toy server, under the id of the case that must find it. */
import { COMMAND_FAULTS } from './faults/commands.ts';
import { EDIT_FAULTS } from './faults/edits.ts';
import { PATH_FAULTS } from './faults/paths.ts';
import { RECORD_FAULTS } from './faults/records.ts';
import type { Toy } from './parts.ts';

export type ToyKind = new (...args: ConstructorParameters<typeof Toy>) => Toy;

export const FAULTS: Readonly<Record<string, ToyKind>> = {
  ...EDIT_FAULTS,
  ...PATH_FAULTS,
  ...COMMAND_FAULTS,
  ...RECORD_FAULTS,
};
