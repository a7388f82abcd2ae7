/** tool-runtime run: one run of an external tool, with the tool's output and exit code. */
import type { JsonObject, ToolResponse } from '@tool-runtime/protocol';
import { badUsage, UsageError } from '../../terminal/bad-usage.ts';
import { defineCommand, type SharedOptions, withRuntimeOptions } from '../command.ts';
import { withInterrupt } from '../interrupt.ts';
import { withRuntime } from '../open-runtime.ts';
import { wholeNumber } from '../option-values.ts';

interface RunOptions extends SharedOptions {
  readonly pack?: string;
  readonly packDigest?: string;
  readonly inputs?: string;
  readonly quiet?: boolean;
  readonly timeout?: number;
}

export const run = defineCommand({
  name: 'run',
  summary: 'Run an external tool: its output and exit code, 10 to 17 when it could not run',
  configure(command, done) {
    withRuntimeOptions(command)
      .argument('<tool>', 'name in external_tools of the registry')
      .argument('[args...]', 'arguments for the tool; put -- before arguments that begin with a dash')
      .option('--pack <file>', 'file the tool works on, relative to the workspace')
      .option('--pack-digest <digest>', 'digest the pack must have: sha256:…')
      .option('--inputs <json>', 'inputs for the tool: a JSON object, @file, or - for stdin')
      .option('--quiet', 'show no progress')
      .option('--timeout <ms>', 'lower the time limit of the tool', wholeNumber('--timeout', 1))
      .action(async (tool: string, words: string[], options: RunOptions) => {
        const { checkToolName } = await import('@tool-runtime/sdk/parts');
        checkToolName(tool);
        const args = await argsOf(words, options);
        done(await withInterrupt((signal) => runTool({ tool, args, options, signal })));
      });
  },
});

async function argsOf(words: readonly string[], { inputs, pack, packDigest }: RunOptions): Promise<JsonObject> {
  return {
    ...(words.length === 0 ? {} : { args: [...words] }),
    ...(pack === undefined ? {} : { pack }),
    ...(packDigest === undefined ? {} : { pack_digest: packDigest }),
    ...(inputs === undefined ? {} : { inputs: await readInputs(inputs) }),
  };
}

async function readInputs(word: string): Promise<JsonObject> {
  const { parseSource } = await import('../call-args.ts');
  try {
    if (/^(?:-$|@|\s*[{[])/.test(word)) return (await parseSource(word)) as JsonObject;
  } catch (thrown) {
    throw thrown instanceof UsageError ? badInputs(thrown.message) : thrown;
  }
  throw badInputs(`--inputs takes a JSON object, @file or -: ${word}`);
}

function badInputs(message: string): UsageError {
  return badUsage(message, `for example: --inputs '{"top":3}'`);
}

interface RunOrder {
  readonly tool: string;
  readonly args: JsonObject;
  readonly options: RunOptions;
  readonly signal: AbortSignal;
}

async function runTool({ tool, args, options, signal }: RunOrder): Promise<number> {
  const [{ showProgress }, { reportRun }, { findRunId }] = await Promise.all([
    import('../progress-line.ts'),
    import('../report-run.ts'),
    import('../find-run-id.ts'),
  ]);
  const { quiet, timeout, json } = options;
  return withRuntime(options, async (runtime) => {
    const session = await runtime.openSession({ client: 'tool-runtime run' });
    const isListed = runtime.registry.externalTools.some(({ name, command }) => name === tool && command !== '');
    if (!isListed && session.tools(tool).length > 0) throw notExternal(tool);
    const since = runtime.head().seq;
    const endProgress = quiet === true ? () => {} : showProgress(session, process.stderr);
    const response: ToolResponse = await session
      .call(tool, args, { signal, ...(timeout === undefined ? {} : { timeoutMs: timeout }) })
      .finally(endProgress);
    const runId = await findRunId({ response, isListed, since, runtime, options });
    return reportRun({ response, isListed, runId, json: json === true });
  });
}

function notExternal(tool: string) {
  return badUsage(`Not an external tool: ${tool}`, `make the call: tool-runtime call ${tool}`);
}
