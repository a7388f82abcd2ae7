/** An index that covers the workspace: made now, with progress, on the first question. */
import type { ToolContext } from '@tool-runtime/sdk';
import type { CodeIndex, GenerateOptions, GenerateReport } from '../../contracts/code-index-contract.ts';
import type { UseServices } from '../../plugin/code-services.ts';

type IndexContext = Pick<ToolContext, 'progress' | 'warn' | 'signal' | 'registry'>;

export async function ensureIndex(use: UseServices, context: IndexContext): Promise<CodeIndex> {
  const index = await use().index();
  if (index.isGenerated()) return index;
  const { language } = context.registry.ast;
  const report = await generateIndex(index, language === undefined ? {} : { language }, context);
  if (report.truncated) {
    context.warn({
      code: 'E_AST_PARSE',
      message: `Index holds only the first ${report.files} source files of the workspace`,
      details: { reason: 'too_many_files', next: 'call ast_generate with more max_files, or with the paths you need' },
    });
  }
  return index;
}

/** Progress never steps back, so a generation that is part of a call uses the first part of the way. */
export function generateIndex(
  index: CodeIndex,
  options: GenerateOptions,
  { progress, signal }: Pick<IndexContext, 'progress' | 'signal'>,
): Promise<GenerateReport> {
  return index.generate({
    ...options,
    signal,
    onProgress: (done, total) => progress(total === 0 ? 99 : (99 * done) / total, `Parsed ${done} of ${total} files`),
  });
}
