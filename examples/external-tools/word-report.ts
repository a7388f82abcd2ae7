/**
 * word-report: an external tool written with the kit. Counts the words of the text files of a project and reports the
 * most frequent ones. Inputs: `top`, how many words to report (10), and `folder`, relative to the project root.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { runTool, type ToolContext, ToolFailure } from '@tool-runtime/sdk/tool-kit';

const TEXT_FILE = /\.(?:md|txt)$/;
const WORD = /\p{Letter}+/gu;

await runTool({
  name: 'word-report',
  version: '1.0.0',
  description: 'Report the most frequent words of the text files of a project',
  run(context) {
    const { folder, top } = readInputs(context);
    const files = textFiles(folder).sort();
    if (files.length === 0) context.warn('NO_TEXT_FILES', 'There are no text files to count');

    const counts = new Map<string, number>();
    for (const [index, file] of files.entries()) {
      context.progress(index + 1, files.length, relative(folder, file));
      for (const [word] of readFileSync(file, 'utf8').toLowerCase().matchAll(WORD)) {
        counts.set(word, (counts.get(word) ?? 0) + 1);
      }
    }
    const frequent = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).slice(0, top);
    const lines = frequent.map(([word, count]) => `${word} ${count}\n`);
    context.writeOutput('words.txt', lines.join(''), 'text/plain');
  },
});

/** Links are passed over: they may lead out of the project. */
function textFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return textFiles(path);
    return entry.isFile() && TEXT_FILE.test(entry.name) ? [path] : [];
  });
}

/** What it does not know it refuses: a mistyped name would otherwise pass unnoticed. */
function readInputs({ inputs, projectRoot }: ToolContext): { readonly folder: string; readonly top: number } {
  const { top = 10, folder = '.', ...unknown } = inputs;
  const [name] = Object.keys(unknown);
  if (name !== undefined) throw new ToolFailure(2, 'INVALID_INPUT', `No such input: ${name}`);
  if (typeof top !== 'number' || !Number.isInteger(top) || top < 1)
    throw new ToolFailure(2, 'INVALID_INPUT', 'top must be a whole number from 1 on');
  if (typeof folder !== 'string' || folder.startsWith('/') || folder.split('/').includes('..'))
    throw new ToolFailure(2, 'INVALID_INPUT', 'folder must be a path below the project root');
  if (projectRoot === undefined) throw new ToolFailure(2, 'NO_PROJECT', 'There is no project to read');
  return { folder: join(projectRoot, folder), top };
}
