/**
 * Whether every command of a list may run: its program's name, the allowlist, and the program's own rules.
 *
 * The strictest verdict wins: one refused command refuses the whole list before anything starts.
 */

import { safeText } from '@tool-runtime/protocol/internal';
import type { CommandList, SimpleCommand } from '../contracts/command-list.ts';
import type { CompiledPattern } from '../contracts/registry.ts';
import { redactCommandLine } from '../redaction/redact-command.ts';
import { describeAllowed, nearestPattern } from './describe-allowed.ts';
import { type Fault, findFaults } from './find-faults.ts';
import { joinArgv } from './join-argv.ts';
import { type OptionRules, ruleFor } from './option-rules.ts';
import { isFullyAnchored, literalOf, spellsOut } from './pattern-reach.ts';
import { shellRefusal } from './refusal.ts';

export interface CommandPolicy {
  readonly allow: readonly CompiledPattern[];
  readonly optionRules: OptionRules;
}

/** The key of the registry that allows commands. */
const FIELD = 'shell_allow';
/** Found on the host's PATH, never in the workspace: no slash, and nothing that reads as an option or a hidden file. */
const PROGRAM = /^[A-Za-z0-9_+][A-Za-z0-9._+-]*$/;

function judgeProgram({ argv: [program = ''], column }: SimpleCommand): void {
  if (PROGRAM.test(program)) return;
  throw shellRefusal(`Program is not a plain name: ${safeText(joinArgv([program]), 120)} at column ${column}`, {
    reason: 'program_name',
    field: FIELD,
    program: safeText(program, 120),
    position: column,
    next: 'name a program of the host by letters, digits, . _ + and -; scripts of the workspace run through the program that reads them',
  });
}

function notAllowed({ argv: [program = ''], column }: SimpleCommand, text: string, allow: CommandPolicy['allow']) {
  const nearest = nearestPattern(program, allow);
  const command = safeText(redactCommandLine(text), 120);
  return shellRefusal(`Command not in the allowlist: ${command} at column ${column}`, {
    reason: 'not_allowlisted',
    field: FIELD,
    program,
    command,
    position: column,
    ...(nearest === undefined ? {} : { nearest: safeText(nearest, 120) }),
    next: describeAllowed(program, allow),
  });
}

function lifts(source: string, fault: Fault): boolean {
  // Only a literal pattern matches nothing but this command.
  if (literalOf(source) !== undefined) return true;
  if (fault.needs === 'exact' || !isFullyAnchored(source)) return false;
  return fault.needs === 'anchored' || spellsOut(source, fault.text);
}

const WAYS_OUT: Readonly<Record<Fault['needs'], string>> = {
  exact: 'a pattern that spells out the whole command, from ^ to $',
  anchored: 'a pattern that ends with $',
  spelled: 'a pattern that ends with $ and spells this out',
};

const THINGS: Readonly<Record<Fault['reason'], string>> = {
  refused_program: 'Program',
  interpreter: 'Program under an open pattern',
  missing_option: 'Program without its safe mode',
  refused_option: 'Option',
  refused_subcommand: 'Subcommand',
  refused_argument: 'Argument',
};

function faultError({ argv: [program = ''], column }: SimpleCommand, fault: Fault, nearest: CompiledPattern) {
  const subject = fault.needs === 'spelled' ? redactCommandLine(`${program} ${fault.text}`) : program;
  const spelled = subject.slice(program.length + 1);
  const next = fault.next ?? (fault.needs === 'spelled' ? `leave out ${safeText(spelled, 120)}` : 'use another tool');
  return shellRefusal(
    `${THINGS[fault.reason]} not allowed, it ${fault.why}: ${safeText(subject, 120)} at column ${column}`,
    {
      reason: fault.reason,
      field: FIELD,
      program,
      command: safeText(subject, 120),
      position: column,
      nearest: safeText(nearest.source, 120),
      next: `${next}; or ask the operator for ${WAYS_OUT[fault.needs]}`,
    },
  );
}

function judgeCommand(command: SimpleCommand, { allow, optionRules }: CommandPolicy): void {
  judgeProgram(command);
  const text = joinArgv(command.argv);
  const matching = allow.filter((pattern) => pattern.test(text));
  const [nearest] = matching;
  if (nearest === undefined) throw notAllowed(command, text, allow);
  const rule = ruleFor(optionRules, command.argv[0] ?? '');
  const faults = rule === undefined ? [] : findFaults(command.argv, rule);
  const [gravest] = faults;
  // One pattern must lift them all: two patterns with open ends would each lift what the other's author never saw.
  if (gravest === undefined || matching.some(({ source }) => faults.every((fault) => lifts(source, fault)))) return;
  const standing = faults.find((fault) => !matching.some(({ source }) => lifts(source, fault)));
  throw faultError(command, standing ?? gravest, nearest);
}

/** Throws E_POLICY for the first command that may not run: its column, the nearest pattern, what would pass. */
export function judgeCommands(list: CommandList, policy: CommandPolicy): void {
  for (const { commands } of list.pipelines) {
    for (const command of commands) judgeCommand(command, policy);
  }
}
