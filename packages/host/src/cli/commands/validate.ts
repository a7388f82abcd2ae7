/** tool-runtime validate: rules over the work tree, what is staged, or the commits since a revision. */
import { readFileSync } from 'node:fs';
import type { ToolResponse } from '@tool-runtime/protocol';
import { Option } from 'commander';
import { badUsage } from '../../terminal/bad-usage.ts';
import { showError } from '../../terminal/terminal.ts';
import { defineCommand, type SharedOptions, withRuntimeOptions } from '../command.ts';
import { withInterrupt } from '../interrupt.ts';
import { withRuntime } from '../open-runtime.ts';
import { showProgress } from '../progress-line.ts';
import type { Reporter, ValidationReport } from '../reporters/report.ts';

interface ValidateOptions extends SharedOptions {
  readonly staged?: boolean;
  readonly since?: string;
  readonly rule?: readonly string[];
  readonly level?: string;
  readonly messageFile?: string;
  readonly index?: string;
  readonly ci?: boolean;
  readonly strict?: boolean;
  readonly reporter?: string;
}

const REPORTERS = ['pretty', 'json', 'github', 'sarif', 'junit'];

/** Exit codes: the rules passed, a rule failed, and (2 is bad usage) the rules could not be run. */
const [PASSED, FAILED, NOT_RUN] = [0, 1, 3];

export const validate = defineCommand({
  name: 'validate',
  summary: 'Run rules over files (exit 0 when no blocking rule fails, 1 when one does, 3 when they cannot run)',
  configure(command, done) {
    withRuntimeOptions(command)
      .argument('[paths...]', 'files, folders or globs (default: everything)')
      .option('--staged', 'check what is staged')
      .option('--since <revision>', 'check the commits since a revision')
      .option('--rule <ids...>', 'only these rules, even if the registry does not list them')
      .addOption(
        new Option('--level <level>', 'only rules of this level').choices(['blocking', 'warning', 'suggestion']),
      )
      .option('--message-file <file>', 'also check the commit message in this file')
      .addOption(new Option('--index <name>', 'index file in the git folder, for hooks').hideHelp())
      .option('--ci', 'no colours; reports as annotations where a CI system shows them')
      .option('--strict', 'treat warnings as failures')
      .addOption(new Option('--reporter <name>', 'form of the report').choices(REPORTERS))
      .action(async (paths: string[], options: ValidateOptions) => {
        done(await withInterrupt((signal) => runValidate(paths, options, signal)));
      });
  },
});

async function runValidate(paths: readonly string[], options: ValidateOptions, signal: AbortSignal): Promise<number> {
  const args = toolArgs(paths, options);
  const reporter = await chooseReporter(options);
  return withRuntime(options, async (runtime) => {
    const session = await runtime.openSession({ client: 'tool-runtime validate' });
    const endProgress = showProgress(session, process.stderr);
    const response = await session.call('validate', args, { signal }).finally(endProgress);
    if (!response.ok) return notRun(response);
    const data = response.data as unknown as Omit<ValidationReport, 'duration_ms'>;
    const report = { ...data, duration_ms: response.duration_ms };
    const colors = options.ci !== true && process.stdout.isTTY === true;
    process.stdout.write(reporter.render(report, { colors }));
    return exitCode(report, options.strict === true);
  });
}

function toolArgs(paths: readonly string[], options: ValidateOptions): object {
  const { staged, since, rule, level, messageFile, index } = options;
  if (staged === true && since !== undefined) throw badUsage('--staged and --since cannot be used together');
  return {
    scope: staged === true ? 'staged' : since === undefined ? 'worktree' : 'range',
    ...(since === undefined ? {} : { since }),
    ...(rule === undefined ? {} : { rule_id: rule }),
    ...(level === undefined ? {} : { enforcement: level }),
    ...(paths.length === 0 ? {} : { glob: paths.flatMap(pathGlobs) }),
    ...(messageFile === undefined ? {} : { message: readMessage(messageFile) }),
    ...(index === undefined ? {} : { index }),
  };
}

/** A name may be a file or a folder. */
function pathGlobs(path: string): readonly string[] {
  const plain = path.replace(/^\.\//, '').replace(/\/+$/, '');
  if (plain === '' || plain === '.') return ['**'];
  return /[*?[{]/.test(plain) ? [plain] : [plain, `${plain}/**`];
}

/** As git will keep it: comments of the editor are not part of the message. */
function readMessage(file: string): string {
  try {
    const text = readFileSync(file, 'utf8');
    const [kept = ''] = text.split(/^# -+ >8 -+$/m);
    return kept.replace(/^#.*\n?/gm, '').trim();
  } catch {
    throw badUsage(`Message file cannot be read: ${file}`);
  }
}

async function chooseReporter(options: ValidateOptions): Promise<Reporter> {
  const reporters: Readonly<Record<string, Reporter>> = await import('../reporters/catalog.ts');
  const usual = options.ci === true && process.env['GITHUB_ACTIONS'] === 'true' ? 'github' : 'pretty';
  const name = options.reporter ?? (options.json === true ? 'json' : usual);
  const reporter = Object.values(reporters).find((known) => known.name === name);
  if (reporter === undefined) throw badUsage(`Unknown reporter: ${name}`, `use one of: ${REPORTERS.join(', ')}`);
  return reporter;
}

function exitCode({ violations }: ValidationReport, isStrict: boolean): number {
  const fails = violations.some(({ level }) => level === 'blocking' || (isStrict && level === 'warning'));
  return fails ? FAILED : PASSED;
}

function notRun({ errors }: ToolResponse): number {
  const [first] = errors;
  const next = first?.details?.['next'];
  showError(first?.message ?? 'Rules could not be run', typeof next === 'string' ? next : undefined);
  return NOT_RUN;
}
