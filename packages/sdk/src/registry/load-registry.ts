/**
 * YAML text → frozen Registry, or one error that names every problem with its line. Nothing is ever half loaded.
 *
 * Syntax problems end the load early; all others (schema, patterns, domains, globs, rules, tools) are found together.
 */
import type { JsonObject, JsonValue } from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';
import type { z } from 'zod';
import type { Registry } from '../contracts/registry.ts';
import { patternsTooLarge } from '../pattern/pattern-weight.ts';
import { didYouMean } from '../text/names.ts';
import { buildRegistry } from './build-registry.ts';
import { checkNames, type KnownNames } from './check-names.ts';
import { registryDocument, registryJsonSchema } from './document.ts';
import { parseYaml } from './parse-yaml.ts';
import { type Finding, locate, registryRefused, registryWarning } from './problems.ts';

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
    source: { text, file: options.file },
    places,
    rules: options.rules,
    warnings: warnings.map((warning) => registryWarning(options.file, warning)),
  });
}

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

const TYPE_WORDS: Readonly<Record<string, string>> = {
  array: 'a list',
  object: 'a map',
  record: 'a map',
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
};

function isMap(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function valueAt(root: JsonValue, path: Path): JsonValue | undefined {
  let value: JsonValue | undefined = root;
  for (const step of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Object.hasOwn(value, step) ? (value as Record<PropertyKey, JsonValue>)[step] : undefined;
  }
  return value;
}

function wordFor(value: JsonValue): string {
  return TYPE_WORDS[Array.isArray(value) ? 'array' : typeof value] ?? typeof value;
}

/** The value that was checked and, made once for all issues, the published schema. */
interface Subject {
  readonly root: JsonValue;
  readonly schema: JsonObject;
}

/** The keys the schema knows at a path. */
function knownKeys(schema: JsonObject, path: Path): readonly string[] {
  let schemas: JsonObject[] = [schema];
  for (const step of path) {
    schemas = schemas.flatMap((schema) => {
      const properties = schema['properties'];
      const named = isMap(properties) && typeof step === 'string' ? properties[step] : undefined;
      const next = named ?? (typeof step === 'number' ? schema['items'] : schema['additionalProperties']);
      if (!isMap(next)) return [];
      const choices = next['anyOf'];
      return Array.isArray(choices) ? choices.filter(isMap) : [next];
    });
  }
  return schemas.flatMap((schema) => (isMap(schema['properties']) ? Object.keys(schema['properties']) : []));
}

function explainType(value: JsonValue | undefined, subject: string, expected: string): string {
  const wanted = TYPE_WORDS[expected] ?? expected;
  if (value === undefined) return `Missing key: ${subject} (expected ${wanted})`;
  if (value === null) return `Value is missing: ${subject} (expected ${wanted}; leave the key out to leave it unset)`;
  return `Wrong type: ${subject} (expected ${wanted}, got ${wordFor(value)})`;
}

function explainValue(value: JsonValue | undefined, subject: string, allowed: readonly unknown[]): string {
  if (value === null || value === undefined) return explainType(value, subject, allowed.join(', '));
  if (subject === 'version') {
    return `Unsupported version: ${safeText(JSON.stringify(value), 80)} (this runtime reads version 1)`;
  }
  const written = typeof value === 'string' ? value : JSON.stringify(value);
  const names = allowed.map(String);
  return `Unknown value: ${subject} ${safeText(written, 80)} (one of ${names.join(', ')})${didYouMean(written, names)}`;
}

/** The alternative that got furthest speaks for a union; where all failed at the value itself, the union's own words do. */
function explainUnion(issue: z.core.$ZodIssueInvalidUnion, judged: Subject): readonly Finding[] {
  const path = issue.path.map(String).join('.');
  const value = valueAt(judged.root, issue.path);
  const deep =
    typeof value === 'object' && value !== null ? issue.errors.find((errors) => !errors.some(isMismatch)) : undefined;
  if (deep === undefined) return [{ path, message: explainType(value, path, issue.message) }];
  return deep.flatMap((error) => explainIssue({ ...error, path: [...issue.path, ...error.path] } as Issue, judged));
}

function isMismatch({ code, path }: Issue): boolean {
  return path.length === 0 && (code === 'invalid_type' || code === 'invalid_value');
}

function explainIssue(issue: Issue, judged: Subject): readonly Finding[] {
  const path = issue.path.map(String).join('.');
  const subject = path === '' ? 'registry' : safeText(path, 80);
  const one = (message: string): readonly Finding[] => [{ path, message }];
  switch (issue.code) {
    case 'unrecognized_keys': {
      const known = knownKeys(judged.schema, issue.path);
      return issue.keys.map((key) => ({
        path: path === '' ? key : `${path}.${key}`,
        message: `Unknown key: ${safeText(key, 80)}${didYouMean(key, known)}`,
      }));
    }
    case 'invalid_type':
      return one(explainType(valueAt(judged.root, issue.path), subject, issue.expected));
    case 'invalid_value':
      return one(explainValue(valueAt(judged.root, issue.path), subject, issue.values));
    case 'invalid_union':
      return explainUnion(issue, judged);
    case 'invalid_key':
      return one(issue.issues[0]?.message ?? `Bad key: ${subject}`);
    case 'too_small':
      return one(`Value is too small: ${subject} (at least ${issue.minimum})`);
    case 'too_big':
      return one(`Value is too large: ${subject} (at most ${issue.maximum})`);
    case 'custom':
      return one(issue.message);
    default:
      return one(`Bad value: ${subject}`);
  }
}

/** Schema issues → findings in the words of someone who writes YAML, with the key that was probably meant. */
function explainIssues(issues: readonly Issue[], root: JsonValue): readonly Finding[] {
  const judged = { root, schema: registryJsonSchema() };
  return issues.flatMap((issue) => explainIssue(issue, judged));
}
