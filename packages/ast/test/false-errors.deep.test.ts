/**
 * Sound files of released packages and of Python's own library: what the language's own parser takes must not count as
 * broken here. The grammars lag behind their languages, so this is a gate for new grammars too.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { PARSE_LIMITS } from '../src/parse/limits.ts';
import { decodeSource } from '../src/parse/source-text.ts';
import { createEngine } from '../src/symbols/engine.ts';
import { readProblems } from '../src/symbols/read-problems.ts';
import { openCodeRuntime } from './code-runtime.ts';

const MODULES = fileURLToPath(new URL('../../../node_modules', import.meta.url));
const engine = createEngine();
after(() => engine.delete());

/** Files of one language below a folder that the grammar, with its second opinion, calls broken. */
async function brokenFiles(language: string, folder: string, files: readonly string[]): Promise<string[]> {
  const parser = await engine.parserFor(language);
  const small = files.filter((file) => statSync(join(folder, file)).size <= PARSE_LIMITS.maxFileBytes);
  return small.filter((file) => {
    const parsed = parser.parse(decodeSource(readFileSync(join(folder, file)), file), {
      path: file,
      maxParseMs: 60_000,
    });
    try {
      return readProblems(parsed).problemCount > 0;
    } finally {
      parsed.delete();
    }
  });
}

test('no TypeScript file of an installed package that the compiler parses counts as broken [S0-63]', async () => {
  const all = globSync('**/*.{ts,mts,cts}', { cwd: MODULES }).toSorted();
  const sources = all.filter((file) => !/\.d\.[mc]?ts$/.test(file));
  const declarations = all.filter((file) => /\.d\.[mc]?ts$/.test(file)).filter((_, at) => at % 4 === 0);
  const files = [...sources, ...declarations];
  assert.ok(files.length > 1_000, `${files.length} files`);
  const broken = await brokenFiles('typescript', MODULES, files);
  assert.deepEqual(broken.filter(compilerParses), []);
});

interface CompilerParser {
  createSourceFile(name: string, text: string, target: number): { readonly parseDiagnostics: readonly unknown[] };
}

function compilerParses(file: string): boolean {
  const load = createRequire(join(MODULES, '@arethetypeswrong/core/package.json'));
  const { createSourceFile } = load('typescript') as CompilerParser;
  return createSourceFile(file, readFileSync(join(MODULES, file), 'utf8'), 99).parseDiagnostics.length === 0;
}

test("no file of Python's library that Python parses counts as broken [S0-63]", async () => {
  const folder = execFileSync('python3', ['-c', 'import ast, os; print(os.path.dirname(ast.__file__))'], {
    encoding: 'utf8',
  }).trim();
  const files = globSync('**/*.py', { cwd: folder, exclude: ['site-packages'] }).toSorted();
  const broken = await brokenFiles('python', folder, files);
  const sound = broken.filter((file) => pythonParses(join(folder, file)) && !file.includes('badsyntax'));
  await using code = await openCodeRuntime(
    {},
    {
      registry: 'side_effect_level: process_exec\nvalidators: [{ rule: code.ast.parsed, enforcement: blocking }]',
    },
  );
  for (const file of sound)
    await code.ask('file_write', { path: file, content: readFileSync(join(folder, file), 'utf8') });
  assert.equal((await code.refusal('file_write', { path: 'c.py', content: 'def f(:\n' })).code, 'E_AST_PARSE');
});

function pythonParses(path: string): boolean {
  try {
    execFileSync('python3', ['-c', 'import ast, sys; ast.parse(open(sys.argv[1], "rb").read())', path], {
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false;
  }
}
