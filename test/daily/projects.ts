/** What a day of work does in each of the five repositories: the name it renames, and how their tests are run. */
import type { Language } from '../../packages/sdk/test/command-lines/repositories.ts';

export interface Project {
  readonly language: Language;
  /** File of the declaration; its first name, and those it gets. */
  readonly path: string;
  readonly names: readonly [first: string, second: string, third: string];
  /** Places in code, declaration included. */
  readonly uses: number;
  readonly test: { readonly cmd: string; readonly passed: RegExp };
  /** Committed before the day begins. */
  readonly files?: Readonly<Record<string, string>>;
  /** Words of git commands that set the repository up. */
  readonly settings?: readonly (readonly string[])[];
  readonly hooks?: 'sandboxed';
}

/** As git-lfs writes it for a file it keeps elsewhere. */
export const POINTER = `version https://git-lfs.github.com/spec/v1
oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393
size 12345
`;

export const PROJECTS: readonly Project[] = [
  {
    language: 'javascript',
    path: 'internal/re.js',
    names: ['createToken', 'addToken', 'defineToken'],
    uses: 44,
    test: { cmd: 'npm test', passed: /# pass 2\n# fail 0/ },
    // As husky 9 lays them out: a shim per hook, which runs the file of the project.
    files: {
      '.husky/_/pre-commit': '#!/bin/sh\nexec sh -e .husky/pre-commit "$@"\n',
      '.husky/pre-commit': 'touch "$HOME/escaped"\nnpm test\n',
    },
    settings: [['config', 'core.hooksPath', '.husky/_']],
    hooks: 'sandboxed',
  },
  {
    language: 'typescript',
    path: 'src/util.ts',
    names: ['floatSafeRemainder', 'exactRemainder', 'decimalRemainder'],
    uses: 3,
    test: { cmd: 'npm run typecheck', passed: /tsc -p \. --noEmit/ },
    files: {
      'tsconfig.json': `{
  "compilerOptions": {
    "strict": true,
    "target": "es2022",
    "module": "nodenext",
    "skipLibCheck": true,
    "rootDir": "src"
  },
  "files": ["src/util.ts"]
}
`,
      '.gitignore': 'node_modules\ndist\n',
    },
  },
  {
    language: 'python',
    path: 'pyjson/__init__.py',
    names: ['detect_encoding', 'guess_encoding', 'find_encoding'],
    uses: 2,
    test: { cmd: 'python3 -m unittest', passed: /Ran 2 tests[\s\S]*\nOK/ },
    files: { '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n', 'data/model.bin': POINTER },
    // As `git lfs install` writes them; there is no git-lfs here.
    settings: [
      ['config', 'filter.lfs.clean', 'git-lfs clean -- %f'],
      ['config', 'filter.lfs.smudge', 'git-lfs smudge -- %f'],
      ['config', 'filter.lfs.process', 'git-lfs filter-process'],
      ['config', 'filter.lfs.required', 'true'],
    ],
  },
  {
    language: 'go',
    path: 'tabwriter.go',
    names: ['handlePanic', 'recoverError', 'reportPanic'],
    uses: 3,
    test: { cmd: 'go test ./...', passed: /^ok\s+example\.com\/tabwriter/m },
  },
  {
    language: 'c',
    path: 'src/main.c',
    names: ['print_symbols', 'list_symbols', 'write_symbols'],
    uses: 2,
    test: { cmd: 'make test', passed: /passed/ },
    files: {
      'src/main.c': `#include <stdio.h>
#include "tree_sitter/parser.h"

const TSLanguage *tree_sitter_json(void);

static void print_symbols(const TSLanguage *language) {
  for (unsigned i = 0; i < language->symbol_count; i++) printf("%s\\n", language->symbol_names[i]);
}

int main(void) {
  print_symbols(tree_sitter_json());
  return 0;
}
`,
      '.gitignore': 'build\n',
    },
  },
];
