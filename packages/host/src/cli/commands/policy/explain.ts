/** policy explain: what every gate says to one call, and what would turn the answer. */
import type { Command } from 'commander';
import { printJson } from '../../../terminal/terminal.ts';
import { type Done, type SharedOptions, withSharedOptions } from '../../command.ts';
import { showExplanation } from './show-explanation.ts';

export function addExplain(command: Command, done: Done): void {
  withSharedOptions(
    command
      .command('explain')
      .description(
        'Show what every gate says to a call, and the smallest change of the registry that turns the answer',
      ),
  )
    .argument('<tool>', 'wire name, such as file_write')
    .argument('[args...]', 'a JSON object, key=value pairs, --key value, @file, or - for stdin')
    .allowUnknownOption()
    .action(async (tool: string, words: string[], options: SharedOptions) => {
      const { misread, parseCallArgs } = await import('../../call-args.ts');
      const given = await parseCallArgs(words);
      const { withRuntime } = await import('../../open-runtime.ts');
      const { typeWords } = await import('../../../sessions/typed-words.ts');
      const explanation = await withRuntime(options, async (runtime) => {
        if ('args' in given) return runtime.policy.explain({ tool, args: given.args });
        const { tools } = await runtime.preview();
        const typed = typeWords(given.words, tools.find(({ name }) => name === tool)?.argsSchema);
        if ('problem' in typed) throw misread(typed.problem);
        return runtime.policy.explain({ tool, args: typed.args });
      });
      if (options.json === true) printJson(explanation, { compact: true });
      else showExplanation(explanation);
      done(0);
    });
}
