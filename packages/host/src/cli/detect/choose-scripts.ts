/**
 * Which of a project's named scripts are its build, test, lint and format check.
 *
 * Only names from the lists below are ever used, so no text of a repository gets into a command line.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '@tool-runtime/protocol';

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
/** These usually rewrite files. */
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

/**
 * What the text of a script says it does: rewrite files, only check them, or never end.
 *
 * A gate must not change what it checks, so a script that may rewrite is neither a lint nor a format check. In doubt, a
 * script counts as rewriting: then `init` leaves the line for the operator to fill in.
 */

const REWRITE_OPTIONS =
  /\s--(?:write|fix|apply|apply-unsafe|apply-suggested|autocorrect|autocorrect-all|auto-correct|in-place|inplace)(?=\s|=|$)/;
const WRITES_WITH_W = /\b(?:prettier|gofmt|goimports|gofumpt|shfmt)\b.*\s-w(?=\s|$)/;
const WRITES_WITH_I = /\b(?:clang-format|yapf|autopep8|sed)\b.*\s-i(?=\s|$)/;
/** They write by default. */
const FORMATTERS =
  /\b(?:black|isort|rustfmt|cargo fmt|ruff format|hatch fmt|dart format|mix format|dprint fmt|deno fmt|oxfmt|php-cs-fixer fix|pint|dotnet format|terraform fmt|scalafmt|swiftformat|stylua|go fmt|spotlessApply|spotless:apply|ktlintFormat|phpcbf)\b/;
const CHECK_OPTIONS =
  /\s(?:--check|--check-only|--check-formatted|--list-different|--verify-no-changes|--dry-run|--diff|--test|--set-exit-if-changed|-check|-l|-c)(?=\s|=|$)/;
const CHECKS_BY_ITSELF = /\bbiome (?:format|check|ci|lint)\b|\bdprint check\b|\bspotlessCheck\b|\bspotless:check\b/;
const NEVER_ENDS = /\s--watch(?:All)?(?=\s|=true|$)|\btsc\b.*\s-w(?=\s|$)|\s--serve(?=\s|$)/;

function steps(text: string): readonly string[] {
  return text.split(/[&|;\n]+/).map((step) => ` ${step.trim()}`);
}

export function mayRewrite(text: string): boolean {
  return steps(text).some(
    (step) =>
      REWRITE_OPTIONS.test(step) ||
      WRITES_WITH_W.test(step) ||
      WRITES_WITH_I.test(step) ||
      (FORMATTERS.test(step) && !CHECK_OPTIONS.test(step)),
  );
}

/** Whether a script with a name like `format`, which most people let rewrite, demonstrably only checks. */
export function onlyChecks(text: string): boolean {
  return !mayRewrite(text) && steps(text).some((step) => CHECK_OPTIONS.test(step) || CHECKS_BY_ITSELF.test(step));
}

export function neverEnds(text: string): boolean {
  return steps(text).some((step) => NEVER_ENDS.test(step));
}

/** Manifests come with the repository and may hold anything: unexpected content counts as absent. */
export function parseObject(text: string | undefined): JsonObject {
  try {
    const value = JSON.parse((text ?? '').replace(/^\ufeff/, '')) as JsonValue;
    return isJsonObject(value) ? value : {};
  } catch {
    // A manifest that does not parse is the build's problem; here it only says nothing.
    return {};
  }
}

export function objectAt(value: JsonObject, key: string): JsonObject {
  const found = Object.hasOwn(value, key) ? value[key] : undefined;
  return isJsonObject(found) ? found : {};
}

export function textAt(value: JsonObject, key: string): string | undefined {
  const found = Object.hasOwn(value, key) ? value[key] : undefined;
  return typeof found === 'string' ? found : undefined;
}
