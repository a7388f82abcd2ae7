/**
 * Zod issues in words, one line per bad field: where, what was expected, what was found.
 *
 * Text that an author gave to a schema is kept; zod's own phrases lose their prefix. Values are shown only where
 * they were compared with a list of allowed ones, and never at length: an argument may be a secret.
 */
import type { z } from 'zod';
import { clipText, formatPath } from './safe-text.ts';

export interface FieldIssue {
  /** `''` when the value as a whole is wrong. */
  readonly path: string;
  readonly message: string;
}

export interface IssueDescription {
  /** Every bad field (the first eight) in one line, to follow a colon. */
  readonly message: string;
  /** The first bad field, when it has a name. */
  readonly path?: string;
  readonly issues: readonly FieldIssue[];
}

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

const MAX_ISSUES = 8;
const MAX_PHRASE_LENGTH = 200;
const ZOD_PREFIX = /^(?:Invalid (?:input|option|string|number|key|value)|Too (?:big|small)): (?=expected|must)/;
const ZOD_RECEIVED = /, received (.+)$/;

/** `input` is what was parsed; with it, each line also says what was found. */
export function describeIssues(error: z.ZodError, input?: unknown): IssueDescription {
  const all = error.issues.flatMap((issue) => fieldIssues(issue as Issue, [], input));
  const issues = all.slice(0, MAX_ISSUES);
  const lines = issues.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  if (all.length > MAX_ISSUES) lines.push(`and ${all.length - MAX_ISSUES} more`);
  const path = issues[0]?.path ?? '';
  return { message: lines.join('; '), ...(path === '' ? {} : { path }), issues };
}

/** `base` is the path of the union an issue was nested in; zod counts nested paths from there. */
function fieldIssues(issue: Issue, base: Path, input: unknown): FieldIssue[] {
  const path = [...base, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ path: formatPath([...path, key]), message: 'is not a known field' }));
  }
  if (issue.code === 'invalid_union' && issue.errors.length > 0) return unionIssues(issue.errors, path, input);
  return [{ path: formatPath(path), message: describe(issue, path, input) }];
}

/** The branch that came closest, or, when all fail at the value itself, what each of them expected. */
function unionIssues(branches: readonly (readonly Issue[])[], path: Path, input: unknown): FieldIssue[] {
  const tried = branches.filter((issues) => !issues.some(isTypeMismatch));
  if (tried.length === 0) {
    const expected = new Set(branches.flat().filter(isTypeMismatch).map(expectation));
    const phrases = [...expected].map((phrase, at) => (at === 0 ? phrase : phrase.replace(/^expected /, '')));
    return [{ path: formatPath(path), message: `${phrases.join(' or ')}${got(path, input)}` }];
  }
  const closest = tried.reduce((best, issues) => (issues.length < best.length ? issues : best));
  return closest.flatMap((issue) => fieldIssues(issue, path, input));
}

function isTypeMismatch(issue: Issue): boolean {
  return issue.path.length === 0 && (issue.code === 'invalid_type' || issue.code === 'invalid_value');
}

function describe(issue: Issue, path: Path, input: unknown): string {
  switch (issue.code) {
    case 'invalid_type':
      return `${expectation(issue)}${got(path, input) || gotByZod(issue)}`;
    case 'invalid_value':
      return `${expectation(issue)}${gotValue(path, input)}`;
    case 'invalid_union':
      return `${discriminatorExpectation(issue)}${gotValue(path, input)}`;
    case 'too_big':
    case 'too_small':
      return `${expectation(issue)}${issue.origin === 'number' ? got(path, input) : ''}`;
    case 'invalid_key':
      return `is not an allowed key${issue.issues[0] === undefined ? '' : `, ${expectation(issue.issues[0])}`}`;
    case 'custom':
      return issue.message.startsWith('expected ') ? `${expectation(issue)}${got(path, input)}` : expectation(issue);
    default:
      return expectation(issue);
  }
}

/** The message without zod's lead-in and without what it received. */
function expectation(issue: Issue): string {
  const phrase = issue.message.replace(ZOD_PREFIX, '').replace(ZOD_RECEIVED, '');
  return phrase.length <= MAX_PHRASE_LENGTH ? phrase : `${phrase.slice(0, MAX_PHRASE_LENGTH - 1)}…`;
}

function discriminatorExpectation(issue: z.core.$ZodIssueInvalidUnion): string {
  const options = 'options' in issue && Array.isArray(issue.options) ? issue.options : [];
  return options.length === 0 ? expectation(issue) : `expected one of ${options.map(String).map(clipText).join('|')}`;
}

function gotByZod(issue: Issue): string {
  const received = ZOD_RECEIVED.exec(issue.message)?.[1];
  return received === undefined ? '' : `, got ${received === 'undefined' ? 'nothing' : received}`;
}

function got(path: Path, input: unknown): string {
  return input === undefined ? '' : `, got ${kindOf(valueAt(path, input))}`;
}

function gotValue(path: Path, input: unknown): string {
  const value = input === undefined ? undefined : valueAt(path, input);
  return typeof value === 'string' ? `, got ${clipText(value)}` : got(path, input);
}

function valueAt(path: Path, input: unknown): unknown {
  let value = input;
  for (const segment of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, segment)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[segment];
  }
  return value;
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'number' ? String(value) : typeof value;
}
