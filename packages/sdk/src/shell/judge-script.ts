/**
 * Whether the commands of a line may run: `shell_deny` wins, then `shell_allow` and `shell.unseen`; `shell_ask` asks.
 *
 * For a script this is guidance: a program can start others that no one sees before. What must never happen is kept
 * away by the sandbox, so a script without one is refused.
 */
import { type ToolError, utf8Length } from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';
import type { CommandList, SeenCommand, ShellScript, UnseenPart } from '../contracts/command-list.ts';
import type { CompiledPattern, Registry } from '../contracts/registry.ts';
import { redactCommandLine } from '../redaction/redact-words.ts';
import { seeArgv } from './bash/see-commands.ts';
import { describeAllowed, nearestPattern } from './describe-commands.ts';
import { shellRefusal } from './refusal.ts';

export type ScriptPolicy = Pick<Registry, 'isolation' | 'shell' | 'shellAllow' | 'shellDeny' | 'shellAsk'>;

/** Patterns do not match longer texts; such a command counts as unseen. */
const MAX_MATCHED_BYTES = 60_000;

/** Throws E_POLICY for the first command that may not run. */
export function judgeScript(script: ShellScript, registry: ScriptPolicy): void {
  if (registry.isolation === 'none') throw noSandbox();
  const allowed = new Set<SeenCommand>();
  for (const command of script.seen) {
    if (matching(command, registry.shellAllow) !== undefined) allowed.add(command);
    if (!isAllowed(command, allowed, registry)) throw notAllowed(command, registry.shellAllow);
  }
  if (registry.shell.unseen !== 'deny') return;
  const [part] = unseenParts(script, registry);
  if (part !== undefined) throw unseenRefusal(part);
}

/** Throws E_POLICY for a command that `shell_deny` lists, in either mode. */
export function judgeDenied(list: CommandList, registry: Pick<Registry, 'shellDeny'>): void {
  if (registry.shellDeny.length === 0) return;
  for (const command of seenIn(list)) {
    const pattern = matching(command, registry.shellDeny);
    if (pattern === undefined) continue;
    const shown = shownText(command.text);
    throw shellRefusal(`Command is denied by shell_deny: ${shown} at column ${command.column}`, {
      reason: 'denied',
      field: `shell_deny.${pattern.source}`,
      command: shown,
      position: command.column,
      pattern: safeText(pattern.source, 120),
      next: 'leave this command out; the rest of the line may run',
    });
  }
}

/** Why a person has to agree before the line runs; undefined when no one has to. */
export function askedFor(list: CommandList, registry: ScriptPolicy): string | undefined {
  for (const command of registry.shellAsk.length === 0 ? [] : seenIn(list)) {
    const pattern = matching(command, registry.shellAsk);
    if (pattern !== undefined) return `shell_ask: ${safeText(pattern.source, 80)}`;
  }
  if (list.script === undefined || registry.shell.unseen !== 'ask') return undefined;
  const [part] = unseenParts(list.script, registry);
  return part === undefined ? undefined : `shell.unseen: ${WHAT[part.reason]}`;
}

function seenIn({ pipelines, script }: CommandList): readonly SeenCommand[] {
  if (script !== undefined) return script.seen;
  return pipelines.flatMap(({ commands }) => commands.flatMap(({ argv, column }) => seeArgv(argv, column).seen));
}

/** A program with a path is also known by its name. */
function matching({ argv: [program = ''], text }: SeenCommand, patterns: readonly CompiledPattern[]) {
  const name = program.slice(program.lastIndexOf('/') + 1);
  const named = program === name || !text.startsWith(program) ? text : name + text.slice(program.length);
  return patterns.find((pattern) => pattern.test(text) || (named !== text && pattern.test(named)));
}

/** What `shell_allow` names may start what it likes; what does nothing itself is allowed with what it starts. */
function isAllowed(command: SeenCommand, allowed: ReadonlySet<SeenCommand>, { shellAllow }: ScriptPolicy): boolean {
  if (shellAllow.length === 0 || command.isTransparent) return true;
  for (let at: SeenCommand | undefined = command; at !== undefined; at = at.outer) if (allowed.has(at)) return true;
  return false;
}

/** A script that `shell_allow` names has been judged by the operator. */
function unseenParts({ seen, unseen }: ShellScript, { shellAllow, shellDeny, shellAsk }: ScriptPolicy) {
  const isNamed = ({ reason, command }: UnseenPart): boolean =>
    reason === 'script' && command !== undefined && matching(command, shellAllow) !== undefined;
  const needsMatch = shellAllow.length + shellDeny.length + shellAsk.length > 0;
  const long = needsMatch ? seen.filter(({ text }) => utf8Length(text) > MAX_MATCHED_BYTES) : [];
  return [
    ...unseen.filter((part) => !isNamed(part)),
    ...long.map((command): UnseenPart => ({ reason: 'syntax', text: command.text, column: command.column, command })),
  ];
}

function shownText(text: string): string {
  return safeText(redactCommandLine(text), 120);
}

function noSandbox(): ToolError {
  return shellRefusal('Sandboxed command mode needs a sandbox, and isolation is none', {
    reason: 'no_sandbox',
    field: 'isolation',
    next: 'set isolation: bubblewrap, or shell.mode: strict',
  });
}

function notAllowed(command: SeenCommand, allow: readonly CompiledPattern[]): ToolError {
  const [program = ''] = command.argv;
  const nearest = nearestPattern(program, allow);
  const shown = shownText(command.text);
  return shellRefusal(`Command not in the allowlist: ${shown} at column ${command.column}`, {
    reason: 'not_allowlisted',
    field: nearest === undefined ? 'shell_allow' : `shell_allow.${nearest}`,
    program: safeText(program, 120),
    command: shown,
    position: command.column,
    ...(nearest === undefined ? {} : { nearest: safeText(nearest, 120) }),
    next: describeAllowed(program, allow),
  });
}

const WHAT: Readonly<Record<UnseenPart['reason'], string>> = {
  eval: 'a text that is computed and then run',
  computed_name: 'a program whose name is computed',
  script: 'a script of the workspace',
  input: 'commands read from standard input',
  alias: 'a name that is given another meaning',
  syntax: 'text that is not read as bash',
};

function unseenRefusal({ reason, text, column }: UnseenPart): ToolError {
  return shellRefusal(
    `Command cannot be seen before it runs, ${WHAT[reason]}: ${shownText(text)} at column ${column}`,
    {
      reason: 'unseen',
      unseen: reason,
      field: 'shell.unseen',
      position: column,
      next: 'write the commands themselves, or ask the operator for shell.unseen: allow',
    },
  );
}
