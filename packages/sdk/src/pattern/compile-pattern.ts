/**
 * Patterns the operator wrote, compiled once by a linear-time engine: neither a pattern nor a text can stall the host.
 *
 * Allowlist patterns are matched from the first character on, whatever the engine makes of their anchors.
 */
import { ToolError, utf8Length } from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';
import { RE2JS } from 're2js';
import type { CompiledPattern } from '../contracts/registry.ts';
import { MAX_PATTERN_WEIGHT, patternWeight, skipClass, skipEscape } from './pattern-weight.ts';

export const MAX_PATTERN_BYTES = 1024;
export const MAX_INPUT_BYTES = 65_536;

const CONTROL = /[\u0000-\u001f\u007f]/;

type Compiled = { readonly engine: RE2JS } | { readonly problem: string };

function compile(source: string): Compiled {
  if (source === '') return { problem: 'Pattern is empty' };
  if (utf8Length(source) > MAX_PATTERN_BYTES) {
    return { problem: `Pattern is longer than ${MAX_PATTERN_BYTES} bytes: ${safeText(source, 80)}` };
  }
  if (CONTROL.test(source)) {
    return {
      problem: `Pattern holds a control character: ${safeText(source, 80)} (double quotes turn \\b and \\t into one; use single quotes)`,
    };
  }
  if (patternWeight(source) > MAX_PATTERN_WEIGHT) {
    return { problem: `Pattern repeats too much: ${safeText(source, 80)} (use smaller counts)` };
  }
  try {
    return { engine: RE2JS.compile(source) };
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message.replace(/^error parsing regexp: /, '') : 'unknown failure';
    return { problem: `Bad pattern: ${safeText(source, 80)} (${safeText(why, 80)})` };
  }
}

function compileAllowlist(source: string): Compiled {
  const compiled = compile(source);
  if ('problem' in compiled) return compiled;
  const anchored = anchoredForm(source);
  if (anchored === undefined) return compiled;
  return { problem: `Pattern is not anchored with ^: ${safeText(source, 80)} (write ${safeText(anchored, 80)})` };
}

function engineOf(compiled: Compiled): RE2JS {
  if ('engine' in compiled) return compiled.engine;
  throw new ToolError('E_VALIDATION_FAIL', compiled.problem);
}

function pattern(source: string, matches: (text: string) => boolean): CompiledPattern {
  return Object.freeze({ source, test: (text: string) => utf8Length(text) <= MAX_INPUT_BYTES && matches(text) });
}

/** What is wrong with a pattern, in words; undefined when it compiles. */
export function patternProblem(source: string): string | undefined {
  const compiled = compile(source);
  return 'problem' in compiled ? compiled.problem : undefined;
}

/** The same for an allowlist entry, which must also be anchored. */
export function allowlistPatternProblem(source: string): string | undefined {
  const compiled = compileAllowlist(source);
  return 'problem' in compiled ? compiled.problem : undefined;
}

/** Matches anywhere in the text. Throws E_VALIDATION_FAIL. */
export function compilePattern(source: string): CompiledPattern {
  const engine = engineOf(compile(source));
  return pattern(source, (text) => engine.test(text));
}

/** Matches from the first character on. Throws E_VALIDATION_FAIL. */
export function compileAllowlistPattern(source: string): CompiledPattern {
  const engine = engineOf(compileAllowlist(source));
  return pattern(source, (text) => engine.matcher(text).lookingAt());
}

const LEADING_FLAGS = /^\(\?[imsU]+\)/;

function topLevelAlternatives(source: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  let at = 0;
  while (at < source.length) {
    const character = source[at];
    if (character === '\\') {
      at = skipEscape(source, at);
      continue;
    }
    if (character === '[') {
      at = skipClass(source, at);
      continue;
    }
    if (character === '(') depth++;
    if (character === ')') depth--;
    if (character === '|' && depth === 0) {
      parts.push(source.slice(start, at));
      start = at + 1;
    }
    at++;
  }
  return [...parts, source.slice(start)];
}

/** A quantifier after the anchor would make it optional, also across what matches nothing: flags, an empty quotation. */
function isAnchored(alternative: string): boolean {
  if (!alternative.startsWith('^')) return false;
  return !/^\^(?:\(\?[A-Za-z-]*\)|\\Q\\E|\\E)*[*+?{]/.test(alternative);
}

/** Undefined when anchored; otherwise the closest pattern that is. */
function anchoredForm(source: string): string | undefined {
  const flags = LEADING_FLAGS.exec(source)?.[0] ?? '';
  const alternatives = topLevelAlternatives(source.slice(flags.length));
  if (alternatives.every(isAnchored)) return undefined;
  const bare = alternatives.map((alternative) => alternative.replace(/^\^[*+?]?/, ''));
  return bare.length === 1 ? `${flags}^${bare[0]}` : `${flags}^(?:${bare.join('|')})`;
}
