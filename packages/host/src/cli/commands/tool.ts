/** tool-runtime tool: for people who write external tools. `tool check` runs a program as an external tool would be run. */
import type { ToolCheck, ToolCheckReport } from '@tool-runtime/sdk/parts';
import { type Command, Option } from 'commander';
import { badUsage } from '../../terminal/bad-usage.ts';
import { paint, plainText, printJson, printLine } from '../../terminal/terminal.ts';
import { type Done, defineCommand } from '../command.ts';
import { withInterrupt } from '../interrupt.ts';
import { wholeNumber } from '../option-values.ts';

export const tool = defineCommand({
  name: 'tool',
  summary: 'Check a program of yours against the protocol of external tools',
  configure(command, done) {
    // Arguments after the program belong to the program, also those with dashes.
    command.enablePositionalOptions();
    addCheck(command, done);
  },
});

interface CheckOptions {
  readonly profile: 'neutral' | 'epack';
  readonly interpreter: readonly string[];
  readonly timeout: number;
  readonly inputs?: Record<string, never>;
  readonly config?: Record<string, never>;
  readonly pack?: string;
  readonly json?: boolean;
}

const TIMEOUT_MS = 60_000;

function addCheck(command: Command, done: Done): void {
  command
    .command('check')
    .description('Run a program with good and bad environments and check what it does (exit 0 without failures)')
    .argument('<command>', 'the program; it runs as you, without isolation, in a temporary folder')
    .argument('[args...]', 'arguments it always gets')
    .addOption(
      new Option('--profile <name>', 'names of the variables').choices(['neutral', 'epack']).default('neutral'),
    )
    .option('--interpreter <word>', 'program that runs it; repeat the option for its options', collect, [])
    .option('--timeout <ms>', 'time for one run', wholeNumber('--timeout', 1), TIMEOUT_MS)
    .option('--inputs <json>', 'inputs of the runs that should succeed', jsonObject('--inputs'))
    .option('--config <json>', 'configuration of the runs', jsonObject('--config'))
    .option('--pack <file>', 'pack of the runs, for a tool that needs one')
    .option('--json', 'the report as one JSON value')
    .passThroughOptions()
    .action(async (program: string, args: string[], options: CheckOptions) => {
      const report = await check([program, ...args], options);
      if (options.json === true) printJson(report, { compact: true });
      else printReport(report);
      done(report.failed === 0 ? 0 : 1);
    });
}

async function check(
  command: readonly string[],
  { timeout, json, ...options }: CheckOptions,
): Promise<ToolCheckReport> {
  const { checkTool } = await import('@tool-runtime/sdk/parts');
  return withInterrupt((signal) => checkTool({ command, timeoutMs: timeout, signal, ...options }));
}

function collect(word: string, words: readonly string[]): readonly string[] {
  return [...words, word];
}

function jsonObject(option: string): (text: string) => object {
  return (text) => {
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
    } catch {
      // Said below, in the words of the option.
    }
    throw badUsage(`${option} takes a JSON object: ${text}`);
  };
}

const MARKS = { pass: ['green', '✓'], warn: ['yellow', '!'], fail: ['red', '✗'] } as const;
const ID_WIDTH = 30;

function printReport({ name, version, checks, passed, warned, failed }: ToolCheckReport): void {
  for (const found of checks) printCheck(found);
  const subject = name === undefined ? 'the program' : `${name} ${version ?? ''}`.trim();
  printLine(`${plainText(subject)}: ${passed} passed, ${count(warned, 'warning')}, ${count(failed, 'failure')}`);
}

function printCheck({ id, title, status, message, next }: ToolCheck): void {
  const [colour, mark] = MARKS[status];
  printLine(`${paint(colour, mark)} ${id.padEnd(ID_WIDTH)} ${plainText(message)}`);
  if (status === 'pass') return;
  printLine(`    expected: ${title}`);
  printLine(`    next: ${plainText(next)}`);
}

function count(number: number, thing: string): string {
  return `${number} ${thing}${number === 1 ? '' : 's'}`;
}
