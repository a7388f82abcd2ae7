/**
 * YAML text → frozen Registry, or one error that names every problem with its line. Nothing is ever half loaded.
 *
 * Syntax problems end the load early; all others (schema, patterns, domains, globs, rules, tools) are found together.
 */
import type { Registry } from '../contracts/registry.ts';
import { patternsTooLarge } from '../pattern/pattern-weight.ts';
import { buildRegistry } from './build-registry.ts';
import { checkNames, type KnownNames } from './check-names.ts';
import { registryDocument } from './document.ts';
import { explainIssues } from './explain-issues.ts';
import { parseYaml } from './parse-yaml.ts';
import { locate, registryRefused, registryWarning } from './problems.ts';

export interface LoadRegistryOptions extends KnownNames {
  /** Name of the source in messages, as the operator knows it. */
  readonly file: string;
}

/** Throws ToolError E_VALIDATION_FAIL; `details.problems` holds `{ line, column, path, message }` of each problem. */
export function loadRegistry(text: string, options: LoadRegistryOptions): Registry {
  const { value, places, problems: treeProblems, warnings: treeWarnings } = parseYaml(text);
  if (value === undefined) throw registryRefused(options.file, treeProblems);

  // Compiling is what costs, so the sum is judged before the schema compiles anything.
  const tooLarge = patternsTooLarge(value);
  if (tooLarge !== undefined) throw registryRefused(options.file, [...treeProblems, locate(places, tooLarge)]);

  const parsed = registryDocument.safeParse(value);
  const names = checkNames(value, options);
  const alreadyReported = new Set(treeProblems.map((problem) => problem.path));
  const findings = [...(parsed.success ? [] : explainIssues(parsed.error.issues, value)), ...names.problems];
  const problems = [
    ...treeProblems,
    ...findings.filter(({ path }) => !alreadyReported.has(path)).map((finding) => locate(places, finding)),
  ];
  if (!parsed.success || problems.length > 0) throw registryRefused(options.file, problems);

  const warnings = [...treeWarnings, ...names.warnings.map((finding) => locate(places, finding))];
  return buildRegistry(parsed.data, {
    file: options.file,
    places,
    rules: options.rules,
    warnings: warnings.map((warning) => registryWarning(options.file, warning)),
  });
}
