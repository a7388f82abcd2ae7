/**
 * Whether every command of a list may run: its program's name, the allowlist, and the program's own rules.
 *
 * The strictest verdict wins: one refused command refuses the whole list before anything starts.
 */
import { safeText } from '@tool-runtime/protocol/internal';
import type { CommandList, SimpleCommand } from '../contracts/command-list.ts';
import type { CompiledPattern } from '../contracts/registry.ts';
import { redactCommandLine } from '../redaction/redact-words.ts';
import { describeAllowed, nearestPattern } from './describe-commands.ts';
import { type Fault, findFaults } from './find-faults.ts';
import { joinArgv } from './join-argv.ts';
import { type OptionRules, ruleFor } from './option-rules.ts';
import { isFullyAnchored, literalOf, spellsOut } from './pattern-reach.ts';
import { shellRefusal } from './refusal.ts';
import { gitAdvice, literalPattern } from './strict-advice.ts';

export interface CommandPolicy {
  readonly allow: readonly CompiledPattern[];
  readonly optionRules: OptionRules;
}

/** The key of the registry that allows commands. */
const FIELD = 'shell_allow';
/** Found on PATH: no slash, and nothing that reads as an option or a hidden file. */
const PROGRAM = /^[A-Za-z0-9_+][A-Za-z0-9._+-]*$/;
/** A file of the workspace, from the folder the command starts in. */
const PROJECT_PROGRAM = /^(?:\.\/)?(?:[\w.@+][\w.@+-]*\/)*[\w.@+][\w.@+-]*$/;

/** A path needs a pattern that has it written out: a pattern with room for any name was not meant for files of the workspace. */
function judgeProgram({ argv: [program = ''], column }: SimpleCommand, allow: CommandPolicy['allow']): void {
  if (PROGRAM.test(program)) return;
  const isFile = PROJECT_PROGRAM.test(program) && program.includes('/') && !program.split('/').includes('..');
  if (isFile && allow.some(({ source }) => spellsOut(source, program))) return;
  throw shellRefusal(`Program is not a plain name: ${safeText(joinArgv([program]), 120)} at column ${column}`, {
    reason: 'program_name',
    field: FIELD,
    program: safeText(program, 120),
    position: column,
    next: isFile
      ? `ask the operator for a pattern that spells it out: ^${safeText(program.replaceAll('.', '\\.'), 120)}( |$)`
      : 'name a program by letters, digits, . _ + and -, or a file of the workspace by its path from cwd',
  });
}

/** The line of the pattern that comes nearest, else that of the list. */
function fieldOf(nearest: string | undefined): string {
  return nearest === undefined ? FIELD : `${FIELD}.${nearest}`;
}

/** `instead`: what does the same by other means. */
function notAllowed(
  { argv: [program = ''], column }: SimpleCommand,
  { text, allow, instead }: { text: string; allow: CommandPolicy['allow']; instead: string | undefined },
) {
  const nearest = nearestPattern(program, allow);
  const command = safeText(redactCommandLine(text), 120);
  return shellRefusal(`Command not in the allowlist: ${command} at column ${column}`, {
    reason: 'not_allowlisted',
    field: fieldOf(nearest),
    program,
    command,
    position: column,
    ...(nearest === undefined ? {} : { nearest: safeText(nearest, 120) }),
    next: instead ?? describeAllowed(program, allow),
  });
}

function lifts(source: string, fault: Fault): boolean {
  // Only a literal pattern matches nothing but this command.
  if (literalOf(source) !== undefined) return true;
  if (fault.needs === 'exact' || !isFullyAnchored(source)) return false;
  return fault.needs === 'anchored' || spellsOut(source, fault.text);
}

function wayOut({ needs }: Fault, argv: readonly string[]): string {
  if (needs === 'anchored') return 'a pattern that ends with $';
  if (needs === 'spelled') return 'a pattern that ends with $ and spells this out';
  return `this literal pattern, without alternatives or wildcards: ${safeText(literalPattern(argv), 120)}`;
}

const THINGS: Readonly<Record<Fault['reason'], string>> = {
  refused_program: 'Program',
  interpreter: 'Program under an open pattern',
  missing_option: 'Program without its safe mode',
  refused_option: 'Option',
  refused_subcommand: 'Subcommand',
  refused_argument: 'Argument',
};

function adviceOf({ next }: Pick<Fault, 'next'>, argv: readonly string[]): string | undefined {
  return argv[0] === 'git' ? gitAdvice(argv) : next;
}

function faultError({ argv, column }: SimpleCommand, fault: Fault, nearest: CompiledPattern) {
  const [program = ''] = argv;
  const subject = fault.needs === 'spelled' ? redactCommandLine(`${program} ${fault.text}`) : program;
  const spelled = subject.slice(program.length + 1);
  const next =
    adviceOf(fault, argv) ?? (fault.needs === 'spelled' ? `leave out ${safeText(spelled, 120)}` : 'use another tool');
  return shellRefusal(
    `${THINGS[fault.reason]} not allowed, it ${fault.why}: ${safeText(subject, 120)} at column ${column}`,
    {
      reason: fault.reason,
      field: fieldOf(nearest.source),
      program,
      command: safeText(subject, 120),
      position: column,
      nearest: safeText(nearest.source, 120),
      next: `${next}; or ask the operator for ${wayOut(fault, argv)}`,
    },
  );
}

function judgeCommand(command: SimpleCommand, { allow, optionRules }: CommandPolicy): void {
  judgeProgram(command, allow);
  const text = joinArgv(command.argv);
  const [program = ''] = command.argv;
  const speaks = ({ source }: CompiledPattern) => !program.includes('/') || spellsOut(source, program);
  const matching = allow.filter((pattern) => pattern.test(text) && speaks(pattern));
  const [nearest] = matching;
  const rule = ruleFor(optionRules, program.slice(program.lastIndexOf('/') + 1));
  if (nearest === undefined) {
    const instead = adviceOf({ ...rule?.whole }, command.argv);
    throw notAllowed(command, { text, allow, instead });
  }
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
