/** Fills names in braces, such as {path}, in commands and in the arguments of tools. Unknown names stay as they are. */
import type { z } from 'zod';

export type Json = z.infer<ReturnType<typeof z.json>>;
export type Values = Readonly<Record<string, string>>;

export function fillText(text: string, values: Values): string {
  return text.replaceAll(/\{([\w-]+)\}/g, (whole, name: string) => values[name] ?? whole);
}

export function fillTemplate(template: Json, values: Values): Json {
  if (typeof template === 'string') return fillText(template, values);
  if (Array.isArray(template)) return template.map((entry) => fillTemplate(entry, values));
  if (template === null || typeof template !== 'object') return template;
  return Object.fromEntries(Object.entries(template).map(([key, entry]) => [key, fillTemplate(entry, values)]));
}

/**
 * Splits a command into words: blanks separate, quotes keep together. No shell reads it. Variables may be several words,
 * such as {program}; folders are filled in last and are one word each, blanks included.
 */
export function splitCommand(command: string, variables: Values, folders: Values): string[] {
  const words = fillText(command, variables).matchAll(/(?:[^\s"']|"[^"]*"|'[^']*')+/g);
  return [...words].map(([word]) => fillText(word.replaceAll(/"([^"]*)"|'([^']*)'/g, '$1$2'), folders));
}
