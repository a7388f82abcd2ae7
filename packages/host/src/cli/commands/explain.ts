/** tool-runtime explain: what an error code or a rule means, without opening anything. */
import { badUsage } from '../../terminal/bad-usage.ts';
import { paint, printJson, printLine } from '../../terminal/terminal.ts';
import { defineCommand } from '../command.ts';

export const explain = defineCommand({
  name: 'explain',
  summary: 'Explain an error code or a rule, and what to do next',
  configure(command, done) {
    command
      .argument('<name>', 'an error code such as E_POLICY, or a rule such as sec.paths.sandbox')
      .option('--json', 'machine-readable output')
      .action(async (name: string, options: { json?: boolean }) => {
        const answer = await explanation(name);
        if (options.json === true) printJson(answer, { compact: true });
        else for (const [key, value] of Object.entries(answer)) printLine(`${paint('bold', key.padEnd(12))} ${value}`);
        done(0);
      });
  },
});

async function explanation(name: string): Promise<Readonly<Record<string, string>>> {
  const { ERROR_CODES, ERROR_GUIDE } = await import('@tool-runtime/protocol');
  const code = ERROR_CODES.find((known) => known === name.toUpperCase());
  if (code !== undefined) return { code, ...ERROR_GUIDE[code] };
  const [{ describeRules }, { createAst }] = await Promise.all([
    import('@tool-runtime/sdk'),
    import('@tool-runtime/ast'),
  ]);
  const rules = describeRules(createAst().rules);
  const rule = rules.find(({ id }) => id === name);
  if (rule !== undefined) return { ...rule };
  const known = `codes: ${ERROR_CODES.join(', ')}; rules: ${rules.map(({ id }) => id).join(', ')}`;
  throw badUsage(`Neither an error code nor a rule: ${name}`, known);
}
