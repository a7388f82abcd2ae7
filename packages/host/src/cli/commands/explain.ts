/** tool-runtime explain: what an error code, a rule, a tool, a registry key or a reason means, without opening anything. */
import type { JsonObject, JsonValue } from '@tool-runtime/protocol';
import { badUsage } from '../../terminal/bad-usage.ts';
import { paint, printJson, printLine } from '../../terminal/terminal.ts';
import { defineCommand } from '../command.ts';

export const explain = defineCommand({
  name: 'explain',
  summary: 'Explain an error code, a rule, a tool, a registry key or a reason, and what to do next',
  configure(command, done) {
    command
      .argument('<name>', 'such as E_POLICY, sec.paths.sandbox, file_read, limits.max_jobs or not_allowlisted')
      .option('--json', 'machine-readable output')
      .action(async (name: string, options: { json?: boolean }) => {
        const answer = await explanation(name);
        if (options.json === true) printJson(answer, { compact: true });
        else for (const [key, value] of Object.entries(answer)) printLine(`${paint('bold', key.padEnd(12))} ${value}`);
        done(0);
      });
  },
});

type Explanation = Readonly<Record<string, string>>;

async function explanation(name: string): Promise<Explanation> {
  const { ERROR_CODES, ERROR_GUIDE } = await import('@tool-runtime/protocol');
  const code = ERROR_CODES.find((known) => known === name.toUpperCase());
  if (code !== undefined) return { code, ...ERROR_GUIDE[code] };
  const [{ describeRules }, { argumentNames, builtInTools, nearestName, registryJsonSchema }, { createAst }] =
    await Promise.all([import('@tool-runtime/sdk'), import('@tool-runtime/sdk/parts'), import('@tool-runtime/ast')]);
  const ast = createAst();
  const known = new Map<string, Explanation>([
    ...describeRules(ast.rules).map((rule): [string, Explanation] => [rule.id, { ...rule }]),
    ...[...builtInTools(), ...ast.tools].map((tool): [string, Explanation] => [
      tool.name,
      describeTool(tool, argumentNames(tool)),
    ]),
    ...registryKeys(registryJsonSchema(), ''),
    ...Object.entries(REASONS).map(([reason, about]): [string, Explanation] => [reason, { reason, ...about }]),
  ]);
  const found = known.get(name);
  if (found !== undefined) return found;
  const nearest = nearestName(name, [...ERROR_CODES, ...known.keys()]);
  const hint = nearest === undefined ? '' : `did you mean ${nearest}? `;
  throw badUsage(
    `Not an error code, rule, tool, registry key or reason: ${name}`,
    `${hint}see docs/errors.md, docs/rules.md and docs/tools.md for all names`,
  );
}

interface DescribedTool {
  readonly name: string;
  readonly summary: string;
  readonly policyNotes?: string;
}

function describeTool({ name, summary, policyNotes }: DescribedTool, args: readonly string[]): Explanation {
  return {
    tool: name,
    summary,
    ...(policyNotes === undefined ? {} : { policy: policyNotes }),
    arguments: args.join(', ') || 'none',
    next: `tool-runtime tools ${name} shows whether this workspace allows it, with its schemas`,
  };
}

/** Dotted paths, as messages about the registry write them. */
function registryKeys(schema: JsonObject, path: string): readonly [string, Explanation][] {
  const { properties } = schema;
  if (!isJsonObject(properties)) return [];
  return Object.entries(properties).flatMap(([name, given]): [string, Explanation][] => {
    if (!isJsonObject(given)) return [];
    const key = path === '' ? name : `${path}.${name}`;
    const { description, default: usual, type } = given;
    const about = {
      key,
      ...(typeof description === 'string' ? { meaning: description } : {}),
      ...(typeof type === 'string' ? { type } : {}),
      ...(usual === undefined || isJsonObject(usual) ? {} : { default: JSON.stringify(usual) }),
    };
    return [[key, about], ...registryKeys(given, key)];
  });
}

/** The reasons that callers meet most, from `details.reason` of an error. */
const REASONS: Readonly<Record<string, { readonly meaning: string; readonly next: string }>> = {
  not_allowlisted: {
    meaning: 'No pattern of shell_allow matches the command.',
    next: 'Use a command that is listed, or let the operator add a pattern to shell_allow of the registry.',
  },
  arg_constraint: {
    meaning: 'A value is outside of what arg_constraints of the registry allow for this argument.',
    next: 'Use a value that matches the constraint; the error names it and its line.',
  },
  unknown_tool: {
    meaning: 'No tool of this name is in the session.',
    next: 'List the names with: tool-runtime tools',
  },
  missing_keys: { meaning: 'Required arguments are missing.', next: 'Give the arguments that the error names.' },
  ambiguous_alias: {
    meaning: 'One argument was given under two names.',
    next: 'Give the name that the schema of the tool has.',
  },
  outcome_unknown: {
    meaning: 'A call with this key was interrupted, and what became of it cannot be told from the files.',
    next: 'Look at the files, then: tool-runtime audit resolve',
  },
  past_end: { meaning: 'The first line asked for is beyond the end of the file.', next: 'Use a lower offset.' },
  huge_file: {
    meaning: 'The file is too large to be read whole.',
    next: 'Give offset and limit, or search it with grep.',
  },
  too_large: { meaning: 'The request or the answer is above its limit.', next: 'Ask for less at once.' },
  cancelled: {
    meaning: 'The caller or the end of the session cancelled the call.',
    next: 'Make the call again if it is still wanted.',
  },
};

/** As in the protocol, which is loaded only where it is needed. */
function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
