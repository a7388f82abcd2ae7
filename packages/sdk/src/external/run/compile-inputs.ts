/** A checked schema of inputs as a function that names what does not fit, at most a handful of places. */
import { isJsonObject, type JsonObject, type JsonValue } from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';
import { compilePattern } from '../../pattern/compile-pattern.ts';

const MAX_ISSUES = 8;

export interface InputIssue {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

type Path = InputIssue['path'];
type Check = (value: JsonValue, path: Path, issues: InputIssue[]) => void;

/** The schema has passed `inputsSchemaProblem`. */
export function compileInputs(schema: JsonObject): (value: JsonValue) => readonly InputIssue[] {
  const check = compile(schema);
  return (value) => {
    const issues: InputIssue[] = [];
    check(value, [], issues);
    return issues.slice(0, MAX_ISSUES);
  };
}

function compile(schema: JsonObject): Check {
  const checks = [typeCheck(schema), valueCheck(schema), textCheck(schema), numberCheck(schema)];
  const inner = [arrayCheck(schema), objectCheck(schema), anyOfCheck(schema)];
  const all = [...checks, ...inner].filter((check) => check !== undefined);
  return (value, path, issues) => {
    for (const check of all) if (issues.length < MAX_ISSUES) check(value, path, issues);
  };
}

function typeName(value: JsonValue): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function typeCheck({ type }: JsonObject): Check | undefined {
  if (type === undefined) return undefined;
  const names = (Array.isArray(type) ? type : [type]) as readonly string[];
  return (value, path, issues) => {
    const name = typeName(value);
    if (names.includes(name) || (names.includes('integer') && Number.isInteger(value))) return;
    issues.push({ path, message: `must be ${names.join(' or ')}` });
  };
}

function sameJson(left: JsonValue, right: JsonValue): boolean {
  if (typeof left !== 'object' || left === null || typeof right !== 'object' || right === null) return left === right;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const [names, others] = [Object.keys(left), Object.keys(right)];
  if (names.length !== others.length) return false;
  const at = (value: object, name: string): JsonValue => (value as Record<string, JsonValue>)[name] ?? null;
  return names.every((name) => Object.hasOwn(right, name) && sameJson(at(left, name), at(right, name)));
}

function valueCheck(schema: JsonObject): Check | undefined {
  const listed = schema['enum'] as readonly JsonValue[] | undefined;
  const only = Object.hasOwn(schema, 'const') ? [schema['const'] as JsonValue] : undefined;
  if (listed === undefined && only === undefined) return undefined;
  return (value, path, issues) => {
    const isIn = (list: readonly JsonValue[] | undefined) => list?.some((item) => sameJson(item, value)) ?? true;
    if (!isIn(listed) || !isIn(only)) issues.push({ path, message: 'is not one of the allowed values' });
  };
}

function textCheck(schema: JsonObject): Check | undefined {
  const { minLength: least, maxLength: most, pattern } = schema as Record<string, JsonValue | undefined>;
  if (least === undefined && most === undefined && pattern === undefined) return undefined;
  const compiled = typeof pattern === 'string' ? compilePattern(pattern) : undefined;
  return (value, path, issues) => {
    if (typeof value !== 'string') return;
    // JSON Schema counts characters, not UTF-16 units.
    const length = [...value].length;
    if (typeof least === 'number' && length < least) issues.push({ path, message: `is shorter than ${least}` });
    if (typeof most === 'number' && length > most) issues.push({ path, message: `is longer than ${most}` });
    if (compiled?.test(value) === false)
      issues.push({ path, message: `does not match ${safeText(compiled.source, 80)}` });
  };
}

const BOUNDS: readonly [string, (value: number, bound: number) => boolean, string][] = [
  ['minimum', (value, bound) => value >= bound, 'is below'],
  ['maximum', (value, bound) => value <= bound, 'is above'],
  ['exclusiveMinimum', (value, bound) => value > bound, 'is not above'],
  ['exclusiveMaximum', (value, bound) => value < bound, 'is not below'],
  ['multipleOf', (value, bound) => Number.isInteger(value / bound), 'is not a multiple of'],
];

function numberCheck(schema: JsonObject): Check | undefined {
  const bounds = BOUNDS.filter(([key]) => schema[key] !== undefined);
  if (bounds.length === 0) return undefined;
  return (value, path, issues) => {
    if (typeof value !== 'number') return;
    for (const [key, holds, words] of bounds) {
      const bound = schema[key] as number;
      if (!holds(value, bound)) issues.push({ path, message: `${words} ${bound}` });
    }
  };
}

function arrayCheck(schema: JsonObject): Check | undefined {
  const { minItems: least, maxItems: most, items } = schema as Record<string, JsonValue | undefined>;
  if (least === undefined && most === undefined && items === undefined) return undefined;
  const each = isJsonObject(items) ? compile(items) : undefined;
  return (value, path, issues) => {
    if (!Array.isArray(value)) return;
    const list = value as readonly JsonValue[];
    if (typeof least === 'number' && list.length < least) issues.push({ path, message: `has fewer than ${least}` });
    if (typeof most === 'number' && list.length > most) issues.push({ path, message: `has more than ${most}` });
    if (each !== undefined) for (const [index, item] of list.entries()) each(item, [...path, index], issues);
  };
}

function objectCheck(schema: JsonObject): Check | undefined {
  const { properties, required, additionalProperties: rest } = schema as Record<string, JsonValue | undefined>;
  if (properties === undefined && required === undefined && rest === undefined) return undefined;
  const known = new Map(
    Object.entries((properties ?? {}) as JsonObject).map(([name, one]) => [name, compile(one as JsonObject)]),
  );
  const others = isJsonObject(rest) ? compile(rest) : undefined;
  return (value, path, issues) => {
    if (!isJsonObject(value)) return;
    for (const name of (required ?? []) as readonly string[]) {
      if (!Object.hasOwn(value, name)) issues.push({ path: [...path, name], message: 'is missing' });
    }
    for (const [name, item] of Object.entries(value)) {
      const check = known.get(name) ?? others;
      if (check !== undefined) check(item, [...path, name], issues);
      else if (rest === false) issues.push({ path: [...path, name], message: 'is not known' });
    }
  };
}

function anyOfCheck({ anyOf }: JsonObject): Check | undefined {
  if (anyOf === undefined) return undefined;
  const checks = (anyOf as readonly JsonObject[]).map(compile);
  return (value, path, issues) => {
    const fits = checks.some((check) => {
      const found: InputIssue[] = [];
      check(value, path, found);
      return found.length === 0;
    });
    if (!fits) issues.push({ path, message: 'fits none of the alternatives' });
  };
}
