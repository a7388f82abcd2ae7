/**
 * sec.shell.allowlist: every command of a line is allowed by the registry, option by option, and so is its environment.
 *
 * The line is parsed once: the list that is checked here is the list that the tool starts.
 */
import { isToolError, type JsonValue, ToolError } from '@tool-runtime/protocol';
import type { Registry } from '../contracts/registry.ts';
import { type CheckedCommand, defineRule, type Violation } from '../contracts/rule.ts';
import { judgeEnvironment } from '../shell/environment.ts';
import { judgeCommands } from '../shell/judge-commands.ts';
import { judgeDenied, judgeScript } from '../shell/judge-script.ts';
import { OPTION_RULES } from '../shell/option-rules.ts';

export const secShellAllowlist = defineRule({
  id: 'sec.shell.allowlist',
  category: 'Security / Shell',
  description: 'Every command matches the allowlist; the environment is judged and redacted',
  phase: 'before',
  trigger: 'commands',
  defaultEnforcement: 'blocking',
  always: true,
  errorCode: 'E_POLICY',
  looksAt: ['commands', 'environments'],
  appliesTo: ({ commands, environments }) => commands.length > 0 || environments.length > 0,
  check: ({ commands, environments }, { registry }) => [
    ...commands.flatMap((command) => found(command.key, () => judgeCommand(command, registry))),
    ...environments.flatMap(({ key, value }) => found(key, () => judgeVariables(value, registry))),
  ],
});

function judgeCommand(command: CheckedCommand, registry: Registry): void {
  const list = command.list();
  judgeDenied(list, registry);
  if (list.script !== undefined) judgeScript(list.script, registry);
  else judgeCommands(list, { allow: registry.shellAllow, optionRules: OPTION_RULES });
}

function judgeVariables(value: JsonValue, registry: Registry): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw notVariables();
  for (const text of Object.values(value)) if (typeof text !== 'string') throw notVariables();
  judgeEnvironment(value as Readonly<Record<string, string>>, allowedVariables(registry));
}

/** Without a sandbox a variable that loads code would run it on the host. A script may set any variable by itself. */
function allowedVariables({ sandbox, isolation, shell }: Registry): readonly string[] {
  if (isolation === 'none') return [];
  return shell.mode === 'sandboxed' ? ['*'] : sandbox.env;
}

function notVariables(): ToolError {
  return new ToolError('E_POLICY', 'Environment is not an object of texts', { details: { reason: 'variable_value' } });
}

function found(key: string, judge: () => void): Violation[] {
  try {
    judge();
    return [];
  } catch (refusal) {
    // The judgement refuses by throwing; here its refusal is the finding.
    if (!isToolError(refusal)) throw refusal;
    return [{ message: refusal.message, path: key, details: refusal.details }];
  }
}
