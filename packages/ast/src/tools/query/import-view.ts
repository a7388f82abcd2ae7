/** What files import, in the order of the files. */
import { compileGlobs } from '@tool-runtime/sdk';
import type { CodeIndex } from '../../contracts/code-index-contract.ts';
import type { AnswerImport } from './answer-schema.ts';
import { type NodesAnswer, plainGlob, type ViewRequest } from './query-views.ts';

export interface ImportAnswer extends NodesAnswer {
  readonly imports: AnswerImport[];
}

/** `name_like` is about the module or the imported name. */
export async function importView(
  index: CodeIndex,
  { where, limit, offset, signal }: ViewRequest,
): Promise<ImportAnswer> {
  const { name_like: name, language } = where;
  const imports: AnswerImport[] = [];
  for (const file of filesOf(index, where)) {
    signal.throwIfAborted();
    if (language !== undefined && index.fileRow(file)?.language !== language) continue;
    for (const { source, name: imported, alias, star, typeOnly, reexport, line } of await index.importsOf(file, name)) {
      imports.push({
        ...{ file, line, source },
        ...(imported === undefined ? {} : { name: imported }),
        ...(alias === undefined ? {} : { alias }),
        ...(star === true ? { star } : {}),
        ...(typeOnly === true ? { type_only: true } : {}),
        ...(reexport === true ? { reexport } : {}),
      });
    }
    if (imports.length > offset + limit) break;
  }
  const truncated = imports.length > offset + limit;
  return { nodes: [], imports: imports.slice(offset, offset + limit), truncated };
}

function filesOf(index: CodeIndex, where: ViewRequest['where']): readonly string[] {
  const file = plainGlob(where);
  if (file !== undefined) return [file];
  const { file_glob: glob } = where;
  return glob === undefined ? index.files() : index.files().filter(compileGlobs([glob]));
}
