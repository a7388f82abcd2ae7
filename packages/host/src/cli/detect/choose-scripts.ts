/**
 * Which of a project's named scripts are its build, test, lint and format check.
 *
 * Only names from the lists below are ever used, so nothing a repository writes gets into a command line.
 */
import { mayRewrite, neverEnds, onlyChecks } from './script-text.ts';

export interface NamedScripts {
  has(name: string): boolean;
  /** Everything that runs under the name, scripts it calls included. */
  textOf(name: string): string;
}

export interface ChosenScripts {
  readonly build: string | undefined;
  readonly test: string | undefined;
  readonly lint: string | undefined;
  readonly fmt: string | undefined;
}

const BUILD = ['build', 'compile', 'typecheck', 'type-check', 'check-types', 'types'];
const TEST = ['test', 'tests', 'test:unit', 'unit'];
const LINT = ['lint', 'lint:check', 'lint-check', 'lint:ci', 'check:lint', 'eslint', 'phpstan', 'analyse'];
const CHECKS = [
  'format:check',
  'fmt:check',
  'check:format',
  'check:fmt',
  'format-check',
  'fmt-check',
  'check-format',
  'check-fmt',
  'fmtcheck',
  'prettier:check',
  'check:prettier',
  'format:ci',
  'cs:check',
  'check-style',
];
/** Most people let these rewrite. */
const DOUBTFUL = ['format', 'fmt', 'prettier', 'lint:format', 'lint:prettier', 'cs'];
/** What `npm init` writes. */
const NO_TEST = 'no test specified';

export function chooseScripts(scripts: NamedScripts): ChosenScripts {
  const first = (names: readonly string[], fits: (text: string) => boolean) =>
    names.find((name) => scripts.has(name) && !neverEnds(scripts.textOf(name)) && fits(scripts.textOf(name)));
  return {
    build: first(BUILD, () => true),
    test: first(TEST, (text) => !text.includes(NO_TEST)),
    lint: first(LINT, (text) => !mayRewrite(text)),
    fmt: first(CHECKS, (text) => !mayRewrite(text)) ?? first(DOUBTFUL, onlyChecks),
  };
}
