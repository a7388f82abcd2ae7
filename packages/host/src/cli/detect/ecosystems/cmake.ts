/** CMake: configured and built in `build/`, tests through ctest where the project registers any. */
import { commandSet } from '../command-set.ts';
import type { Ecosystem, FolderView } from '../detected-project.ts';

export const cmake: Ecosystem = {
  name: 'cmake',
  detect(view) {
    const lists = view.read('CMakeLists.txt');
    if (lists === undefined) return undefined;
    const source = view.folder === '' ? '.' : view.folder;
    const output = view.folder === '' ? 'build' : `${view.folder}/build`;
    const hasTests = /\b(?:enable_testing|add_test)\s*\(|\binclude\s*\(\s*CTest\b/i.test(lists);
    return {
      languages: [languageOf(lists, view)],
      commands: commandSet({
        build: `cmake -S ${source} -B ${output} && cmake --build ${output}`,
        test: hasTests ? `ctest --test-dir ${output} --output-on-failure` : undefined,
        lint: undefined,
        fmt: undefined,
      }),
      testGlobs: ['**/tests/**', '**/test/**'],
    };
  },
};

function languageOf(lists: string, view: FolderView): string {
  const sources = [...view.list(), ...view.list('src')].join('\n');
  const isC =
    /\bproject\s*\([^)]*\bC\s*\)/i.test(lists) || (/\.c$/m.test(sources) && !/\.(?:cc|cpp|cxx)$/m.test(sources));
  return isC && !/\bCXX\b/.test(lists) ? 'c' : 'cpp';
}
