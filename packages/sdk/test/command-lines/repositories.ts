/** Five small repositories made of real code that every test machine has: npm packages, Python's and Go's libraries. */
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

export const LANGUAGES = ['javascript', 'typescript', 'python', 'go', 'c'] as const;
export type Language = (typeof LANGUAGES)[number];

const packageFolder = (name: string): string => dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));

/** Fills an empty folder with the repository and commits it. */
export function createRepository(language: Language, folder: string): void {
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  BUILDERS[language](folder, write);
  write('.gitignore', 'node_modules\n__pycache__\n');
  const git = (...args: string[]): void => {
    const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', '-c', 'commit.gpgsign=false'];
    execFileSync('git', [...identity, ...args], {
      cwd: folder,
      stdio: 'pipe',
      // The same commit in every copy.
      env: { ...process.env, GIT_AUTHOR_DATE: '2026-01-01T00:00:00Z', GIT_COMMITTER_DATE: '2026-01-01T00:00:00Z' },
    });
  };
  git('init', '-q', '-b', 'main');
  git('config', 'user.name', 'Ada');
  git('config', 'user.email', 'ada@example.com');
  git('add', '-A');
  git('commit', '-q', '-m', 'start');
}

type Build = (folder: string, write: (path: string, text: string) => void) => void;

const BUILDERS: Readonly<Record<Language, Build>> = {
  /** The package semver with tests of its own. */
  javascript(folder, write) {
    cpSync(packageFolder('semver'), folder, { recursive: true });
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, unknown>;
    const scripts = {
      test: 'node --test --test-reporter=tap',
      lint: 'node --check index.js',
      versions: 'node bin/semver.js 1.2.3 1.10.0 1.9.0',
    };
    const { name, version, main, bin } = manifest;
    write('package.json', `${JSON.stringify({ name, version, main, bin, scripts }, null, 2)}\n`);
    write(
      'test/compare.test.js',
      `const test = require('node:test');
const assert = require('node:assert');
const semver = require('../index.js');
test('compare', () => assert.equal(semver.compare('1.2.3', '1.10.0'), -1));
test('increment', () => assert.equal(semver.inc('1.2.3', 'major'), '2.0.0'));
`,
    );
    write('env.sh', 'export PROJECT=semver\n');
    write('scripts/count.sh', '#!/bin/sh\nls "$1" | wc -l\n');
    chmodSync(join(folder, 'scripts/count.sh'), 0o755);
    mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
    symlinkSync('../../bin/semver.js', join(folder, 'node_modules/.bin/semver'));
  },

  /** Parts of zod's sources with the TypeScript compiler. */
  typescript(folder, write) {
    const core = join(packageFolder('zod'), 'src/v4/core');
    for (const file of readdirSync(core).filter((name) => name.endsWith('.ts'))) {
      const text = readFileSync(join(core, file), 'utf8');
      write(`src/${file}`, text.replaceAll('../core/', './').replaceAll(/^.*\.\.\/locales\/.*$/gm, ''));
    }
    write(
      'package.json',
      `${JSON.stringify(
        {
          name: 'core',
          version: '1.0.0',
          type: 'module',
          scripts: { build: 'tsc -p . --outDir dist', typecheck: 'tsc -p . --noEmit' },
          devDependencies: { typescript: '*' },
        },
        null,
        2,
      )}\n`,
    );
    write(
      'tsconfig.json',
      `${JSON.stringify(
        {
          compilerOptions: { strict: true, target: 'es2022', module: 'nodenext', skipLibCheck: true, noCheck: false },
          files: ['src/util.ts'],
          include: ['src/added.ts', 'src/bad.ts'],
        },
        null,
        2,
      )}\n`,
    );
    write(
      'failing.mjs',
      "import test from 'node:test';\nimport assert from 'node:assert';\ntest('fails', () => assert.equal(1, 2));\n",
    );
    const compiler = packageFolder('typescript');
    cpSync(compiler, join(folder, 'node_modules/typescript'), { recursive: true });
    const platform = `@typescript/typescript-${process.platform}-${process.arch}`;
    cpSync(join(compiler, '..', platform), join(folder, 'node_modules', platform), { recursive: true });
    mkdirSync(join(folder, 'node_modules/.bin'));
    symlinkSync('../typescript/bin/tsc', join(folder, 'node_modules/.bin/tsc'));
  },

  /** The json package of Python's library under another name. */
  python(folder, write) {
    const library = execFileSync('/usr/bin/python3', ['-c', 'import json; print(json.__path__[0])'], {
      encoding: 'utf8',
    }).trim();
    mkdirSync(join(folder, 'pyjson'));
    for (const file of readdirSync(library).filter((name) => name.endsWith('.py'))) {
      cpSync(join(library, file), join(folder, 'pyjson', file));
    }
    write('tests/__init__.py', '');
    write(
      'tests/test_decode.py',
      `import unittest
import pyjson


class Decode(unittest.TestCase):
    def test_list(self):
        self.assertEqual(pyjson.loads("[1]"), [1])

    def test_round_trip(self):
        self.assertEqual(pyjson.loads(pyjson.dumps({"a": None})), {"a": None})


if __name__ == "__main__":
    unittest.main()
`,
    );
    write('broken.py', 'def f(:\n    pass\n');
    write('activate.sh', 'MODE=active\n');
    write('README.md', '# pyjson\n\nReads and writes JSON.\n');
  },

  /** text/tabwriter of Go's library as a module. */
  go(_folder, write) {
    const root = execFileSync('go', ['env', 'GOROOT'], { encoding: 'utf8' }).trim();
    const source = join(root, 'src/text/tabwriter');
    for (const file of readdirSync(source)) {
      const text = readFileSync(join(source, file), 'utf8');
      write(file, text.replaceAll('"text/tabwriter"', '"example.com/tabwriter"'));
    }
    write('go.mod', 'module example.com/tabwriter\n\ngo 1.19\n');
  },

  /** A generated JSON parser with a program and a makefile. */
  c(folder, write) {
    cpSync(join(packageFolder('tree-sitter-json'), 'src'), join(folder, 'src'), {
      recursive: true,
      filter: (path) => !/\.json$/.test(path),
    });
    write(
      'src/main.c',
      `#include <stdio.h>
#include "tree_sitter/parser.h"

const TSLanguage *tree_sitter_json(void);

int main(void) {
  const TSLanguage *language = tree_sitter_json();
  for (unsigned i = 0; i < language->symbol_count; i++) printf("%s\\n", language->symbol_names[i]);
  return 0;
}
`,
    );
    write(
      'Makefile',
      `CFLAGS ?= -O1
all: build/symbols
build/symbols: src/main.c src/parser.c
\tmkdir -p build
\t$(CC) $(CFLAGS) -Isrc -o $@ $^
test: all
\t@./build/symbols | grep -c object
\t@echo passed $(ARGS)
version:
\t@echo 1.0
clean:
\trm -rf build
.PHONY: all test version clean
`,
    );
    write('README', 'symbols\nprints the symbols of a grammar\n');
    write(
      'fix.patch',
      `--- a/src/main.c
+++ b/src/main.c
@@ -1,3 +1,4 @@
 #include <stdio.h>
+#include <stdlib.h>
 #include "tree_sitter/parser.h"
 
`,
    );
  },
};
