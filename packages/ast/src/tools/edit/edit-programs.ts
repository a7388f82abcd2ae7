/** Which programs an edit may start: decided by its arguments and the ceiling, before anything runs. */
import { type Registry, sideEffectRank } from '@tool-runtime/sdk';
import type { EditArguments } from './edit-schemas.ts';

export interface EditPrograms {
  readonly format: boolean;
  readonly build: boolean;
  readonly servers: boolean;
}

/** Operations that know more with a language server. */
const ASKING = new Set(['rename_symbol', 'delete_symbol', 'move_symbol', 'code_action']);

/**
 * Where the ceiling allows no programs an edit does without them, and says so; one that cannot do without keeps its demand
 * and is refused by the gate.
 */
export function editPrograms(given: EditArguments, { ast, ceiling }: Pick<Registry, 'ast' | 'ceiling'>): EditPrograms {
  const { side_effect_level: level } = ceiling;
  const mayRun = level === undefined || sideEffectRank(level) >= sideEffectRank('process_exec');
  const wanted = wantedPrograms(given, ast);
  const isForced = given.server === 'require' || given.operation === 'code_action';
  return {
    format: mayRun && wanted.format,
    build: mayRun && wanted.build,
    servers: isForced || (mayRun && wanted.servers),
  };
}

/** What the caller asked for, whether it may be had or not. */
export function wantedPrograms(given: EditArguments, ast: Registry['ast']): EditPrograms {
  const operations = [given.operation, ...(given.operations ?? []).map(({ operation }) => operation)];
  return {
    format: given.format_on_save ?? ast.format_on_save,
    build: !given.dry_run && (given.validate_build ?? ast.validate_on_edit),
    servers: given.server === 'auto' && operations.some((one) => typeof one === 'string' && ASKING.has(one)),
  };
}
