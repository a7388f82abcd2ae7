/**
 * Which files are code, and by which names their tests go, language by language.
 *
 * Globs name tests wherever they stand; `{name}` in `example` is the changed file's name without its extension.
 */

export interface SourceLanguage {
  readonly extensions: readonly string[];
  readonly tests: readonly string[];
  /** A test file that would count, beside the changed file unless it begins with a slash (the root). */
  readonly example: string;
  /** A line that makes a test inside the source itself. */
  readonly inline?: RegExp;
}

const SCRIPT = 'ts,tsx,mts,cts,js,jsx,mjs,cjs,vue,svelte,astro';
const CPP = 'c,cc,cpp,cxx,h,hh,hpp,hxx,m,mm,cu';

export const SOURCE_LANGUAGES: readonly SourceLanguage[] = [
  language(SCRIPT, [`**/*.{test,spec,cy,e2e}.{${SCRIPT}}`, `**/*-{test,spec}.{${SCRIPT}}`], '{name}.test{extension}'),
  language('py', ['**/test_*.py', '**/*_test.py', '**/conftest.py'], 'test_{name}.py'),
  language('go', ['**/*_test.go'], '{name}_test.go'),
  {
    ...language('rs', ['**/tests.rs', '**/*_{test,tests}.rs', '**/test_*.rs'], '/tests/{name}.rs'),
    inline: /^\s*#\[(?:\w+::)*(?:test|rstest|test_case|quickcheck)\b/,
  },
  language('java', ['**/src/test/**', '**/*{Test,Tests,IT,TestCase}.java', '**/Test*.java'], '{name}Test.java'),
  language('kt,kts', ['**/src/*Test/**', '**/*{Test,Tests,Spec}.{kt,kts}'], '{name}Test.kt'),
  language('scala,sc', ['**/*{Test,Tests,Spec,Suite}.scala'], '{name}Spec.scala'),
  language('groovy', ['**/*{Test,Tests,Spec}.groovy'], '{name}Spec.groovy'),
  language('cs,fs,vb', ['**/*{Test,Tests}.{cs,fs,vb}', '**/*.{Test,Tests}/**'], '{name}Tests{extension}'),
  language('rb', ['**/*_{spec,test}.rb', '**/test_*.rb'], '{name}_spec.rb'),
  language('php', ['**/*Test.php', '**/*Cest.php'], '{name}Test.php'),
  language('swift', ['**/*{Test,Tests}.swift'], '{name}Tests.swift'),
  language(
    CPP,
    [`**/*{_test,_tests,_unittest,Test,Tests,.test}.{${CPP}}`, `**/test_*.{${CPP}}`],
    '{name}_test{extension}',
  ),
  language('dart', ['**/*_test.dart'], '/test/{name}_test.dart'),
  language('ex,exs', ['**/*_test.exs'], '/test/{name}_test.exs'),
  language('erl', ['**/*_{SUITE,tests}.erl'], '{name}_tests.erl'),
  language('hs', ['**/*{Spec,Test}.hs'], '{name}Spec.hs'),
  language('ml', ['**/test_*.ml', '**/*_test.ml'], 'test_{name}.ml'),
  language('clj,cljs,cljc', ['**/*_test.{clj,cljs,cljc}'], '{name}_test{extension}'),
  language('lua', ['**/*_{spec,test}.lua'], '{name}_spec.lua'),
  language('jl', ['**/runtests.jl', '**/*_test.jl'], '/test/{name}.jl'),
  { ...language('zig', ['**/*_test.zig'], '{name}_test.zig'), inline: /^\s*test\s+(?:"|\w+\s*\{|\{)/ },
];

/** Folders that hold tests in any language. */
export const TEST_FOLDERS: readonly string[] = [
  '**/{test,tests,spec,specs,e2e,__tests__,testing,Test,Tests}/**',
  '**/src/test/**',
];

/** Named like code and holding none: declarations, and settings of tools. */
export const NO_CODE: readonly string[] = ['**/*.d.{ts,mts,cts}', `**/*.config.{${SCRIPT}}`];

function language(extensions: string, tests: readonly string[], example: string): SourceLanguage {
  return { extensions: extensions.split(',').map((name) => `.${name}`), tests, example };
}
