/**
 * Problems of a registry text, gathered so that one failed load names all of them.
 *
 * A problem is kept by its dotted path; line and column are looked up once, where it is added.
 */
import { type ErrorEntry, ToolError } from '@tool-runtime/protocol';

/** Where something is written; both start at 1. */
export type Place = { readonly line: number; readonly column: number };
/** Dotted path (`shell_allow.0`) → place. */
export type Places = ReadonlyMap<string, Place>;

/** What is wrong at a path, before its place is known. */
export type Finding = { readonly path: string; readonly message: string };
export type RegistryProblem = Finding & Place;

/** Size of the largest registry. Here, so that asking for it does not load the YAML reader. */
export const MAX_REGISTRY_BYTES = 65_536;

/** In the message itself. */
export const SHOWN = 5;
/** A hostile text holds tens of thousands of mistakes; the answer must stay small. */
export const KEPT = 500;

/** The written place of a path, or of its nearest written parent. */
export function findPlace(places: Places, path: string): Place | undefined {
  for (let at = path; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('.')))) {
    const place = places.get(at);
    if (place !== undefined) return place;
  }
  return undefined;
}

/** A finding about something that is not written points at the start of the text. */
export function locate(places: Places, finding: Finding): RegistryProblem {
  const { line, column } = findPlace(places, finding.path) ?? { line: 1, column: 1 };
  return { line, column, path: finding.path, message: finding.message };
}

export function registryRefused(file: string, found: readonly RegistryProblem[]): ToolError {
  const problems = found.toSorted((left, right) => left.line - right.line || left.column - right.column).slice(0, KEPT);
  const shown = problems.slice(0, SHOWN).map(({ line, column, message }) => `${file}:${line}:${column} ${message}`);
  const more = found.length > shown.length ? `; and ${found.length - shown.length} more` : '';
  return new ToolError('E_VALIDATION_FAIL', `Registry refused: ${shown.join('; ')}${more}`, {
    path: file,
    details: {
      reason: 'invalid_registry',
      registry: `${file}:${problems[0]?.line ?? 1}`,
      problem_count: found.length,
      problems,
      next: 'Correct these lines and load the registry again',
    },
  });
}

export function registryWarning(file: string, problem: RegistryProblem): ErrorEntry {
  return {
    code: 'E_VALIDATION_FAIL',
    message: problem.message,
    path: problem.path,
    details: { registry: `${file}:${problem.line}` },
  };
}
