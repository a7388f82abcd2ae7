/**
 * The part of the engine that the call pipeline uses: sync after a change, and what blocks a change.
 *
 * A change is measured by what it makes worse: errors that were in the file before do not hold it up, and a file that no one
 * has looked at before counts as one that had none.
 */
import type { ErrorEntry } from '@tool-runtime/protocol';
import { type AstIndex, type Registry, sideEffectRank, type Violation } from '@tool-runtime/sdk';
import type { CodeIndex } from '../contracts/code-index-contract.ts';
import type { DiagnosticWatch, FreshDiagnostic } from '../lsp/watch-diagnostics.ts';
import type { CodeServices } from './code-services.ts';
import { isWholeTable } from './granted-providers.ts';

export function createRuntimeIndex(services: CodeServices): AstIndex {
  return {
    covers: services.covers,
    refresh: (changes, signal) => services.follow(changes, signal),
    catchUp: (signal) => services.catchUp(signal),
    async parseProblems(path, signal, options = {}) {
      const index = await services.index();
      const all = await index.parseProblems(path, signal);
      const problems = options.isNew === true ? all : grown(path, all, index);
      return problems.length > 0 && (await pythonAccepts(path, services, signal)) ? [] : problems;
    },
    async watchDiagnostics(paths, { registry }) {
      const watch = await watchChange(services, registry, paths);
      return watch === undefined
        ? undefined
        : async (now) => {
            const { found, undated, late } = await watch(now);
            const waitMs = registry.ast.diagnostics_wait_ms;
            const { lateNews } = await import('../lsp/watch-diagnostics.ts');
            return [...newProblems(found, undated), ...(late.length === 0 ? [] : [lateNews(late, waitMs)])];
          };
    },
  };
}

/** Servers are those of the whole runtime: a session that has fewer of them hears of none. */
export async function watchChange(
  services: CodeServices,
  registry: Registry,
  paths: readonly string[],
): Promise<DiagnosticWatch | undefined> {
  const servers = await services.runningServers();
  if (servers === undefined || !isWholeTable(services.ports.registry.providers, registry.providers)) return undefined;
  return (await services.diagnostics()).watch(servers, paths, registry.ast.diagnostics_wait_ms);
}

const MAX_SHOWN = 20;

/** One warning for all of them; errors first, and without hints, which servers give about sound code. */
function newProblems(found: readonly FreshDiagnostic[], undated: readonly string[]): readonly ErrorEntry[] {
  const meant = found.filter(({ severity }) => severity === 'error' || severity === 'warning');
  const sorted = [...meant].sort((one, other) => one.severity.localeCompare(other.severity));
  const [first] = sorted;
  if (first === undefined) return [];
  const errors = sorted.filter(({ severity }) => severity === 'error').length;
  const counts = `${errors} new ${errors === 1 ? 'error' : 'errors'} and ${sorted.length - errors} new warnings`;
  return [
    {
      code: 'E_VALIDATION_FAIL',
      message:
        undated.length === 0
          ? `Language server found ${counts} after the change`
          : `Language server found ${counts} after the change, of which some may be older: ${undated.join(', ')}`,
      path: first.file,
      details: {
        reason: 'new_diagnostics',
        total: sorted.length,
        violations: sorted.slice(0, MAX_SHOWN).map(({ file, line, severity, message, code, source }) => ({
          path: file,
          line,
          message: `${severity}${code === undefined ? '' : ` ${code}`}: ${message}`,
          ...(source === undefined ? {} : { source }),
        })),
        ...(undated.length === 0 ? {} : { undated: [...undated] }),
        next: 'Fix them, or go on if they are expected; the change is made',
      },
    },
  ];
}

/** None when there are no more of them than before the last change. */
function grown(path: string, problems: readonly Violation[], index: CodeIndex): readonly Violation[] {
  if (problems.length === 0) return problems;
  const before = index.problemsBefore(path);
  if (before === undefined) return problems.map(withRetry);
  const now = index.fileRow(path)?.problems ?? problems.length;
  if (now <= before) return [];
  return problems.map((problem) => ({ ...problem, details: { ...problem.details, problems_before: before } }));
}

/** When the change is taken back the file becomes known as it was, so the second attempt is measured by what it adds. */
function withRetry(problem: Violation): Violation {
  return {
    ...problem,
    next:
      problem.next ??
      'fix the syntax; if the errors were there before, make the same change again: they are known then',
  };
}

const PYTHON_FILE = /\.pyi?$/;
const MAX_BYTES = 2 * 1024 * 1024;
/** Parses and runs nothing. Isolated: neither the workspace nor the environment adds modules to it. */
const PARSE = ['python3', '-I', '-S', '-c', 'import ast, sys; ast.parse(sys.stdin.buffer.read()); print("sound")'];

/**
 * A second opinion before a Python file counts as broken: Python's own parser, in the sandbox, where programs may run.
 * Without a clear yes the file stays broken.
 */
export async function pythonAccepts(path: string, { ports }: CodeServices, signal: AbortSignal): Promise<boolean> {
  const { side_effect_level: level } = ports.registry.ceiling;
  const mayRun = level === undefined || sideEffectRank(level) >= sideEffectRank('process_exec');
  if (!PYTHON_FILE.test(path) || !mayRun) return false;
  try {
    const { runFilter } = await import('../programs/run-filter.ts');
    const { bytes } = await ports.workspace.readFile(path, { maxBytes: MAX_BYTES });
    const { code, stdout } = await runFilter(ports.commands, { command: PARSE, stdin: bytes, signal });
    return code === 0 && Buffer.from(stdout).toString('latin1').trim() === 'sound';
  } catch {
    signal.throwIfAborted();
    return false;
  }
}
