/** An index that covers the workspace: made now, with progress, on the first question. */
import type { ToolContext } from '@tool-runtime/sdk';
import type { CodeIndex, GenerateOptions, GenerateReport } from '../../contracts/code-index-contract.ts';
import type { UseServices } from '../../plugin/code-services.ts';

type IndexContext = Pick<ToolContext, 'progress' | 'warn' | 'signal' | 'registry' | 'ast'>;

type Warning = Parameters<ToolContext['warn']>[0];

/** The whole index, however long it takes. */
export async function ensureIndex(use: UseServices, context: IndexContext): Promise<CodeIndex> {
  return (await openIndex(use, context, undefined)).index;
}

/** Waits some milliseconds for the first index. `missing` says what is not in it yet. */
export async function openIndex(
  use: UseServices,
  context: IndexContext,
  patienceMs: number | undefined,
): Promise<{ readonly index: CodeIndex; readonly missing?: Warning }> {
  const services = use(context);
  const index = await services.index();
  if (index.isGenerated()) return { index };
  const { language } = context.registry.ast;
  const { report, done, total } = await services.first.wait(index, language === undefined ? {} : { language }, {
    ...{ signal: context.signal, patienceMs, onProgress: progressTo(context) },
  });
  if (report === undefined) return { index, missing: partial(done, total) };
  if (report.truncated) {
    context.warn({
      code: 'E_AST_PARSE',
      message: `Index holds only the first ${report.files} source files of the workspace`,
      details: { reason: 'too_many_files', next: 'call ast_generate with more max_files, or with the paths you need' },
    });
  }
  return { index };
}

/** Progress never steps back, so a generation that is part of a call uses the first part of the way. */
export function generateIndex(
  index: CodeIndex,
  options: GenerateOptions,
  context: Pick<IndexContext, 'progress' | 'signal'>,
): Promise<GenerateReport> {
  return index.generate({ ...options, signal: context.signal, onProgress: progressTo(context) });
}

function progressTo({ progress }: Pick<IndexContext, 'progress'>): (done: number, total: number) => void {
  return (done, total) => progress(total === 0 ? 99 : (99 * done) / total, `Parsed ${done} of ${total} files`);
}

function partial(done: number, total: number): Warning {
  const read = total === 0 ? 'no source file yet' : `${done} of ${total} source files`;
  return {
    code: 'E_AST_PARSE',
    message: `Index is being made and holds ${read}: what the others declare is missing from this answer`,
    details: {
      reason: 'indexing',
      indexed: done,
      files: total,
      next: 'ask again; references, matches and edits wait for all files',
    },
  };
}
