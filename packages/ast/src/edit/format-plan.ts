/**
 * Formats what a plan changes, in memory, before anything is written.
 *
 * A file that its formatter would have changed already before the edit stays unformatted: readers of the diff want to
 * see the edit. A failure is a warning; the edit stays.
 */
import { isToolError } from '@tool-runtime/protocol';
import type { Engine } from '../symbols/engine.ts';
import { throwIfAborted } from './edit-failures.ts';
import type { PlannedFile } from './edit-plan.ts';
import type { Formatter } from './formatter.ts';

export interface Formatting {
  readonly formatter: Formatter | undefined;
  readonly engine: Engine;
  languageOf(path: string): string | undefined;
  readonly signal?: AbortSignal | undefined;
  warn(warning: string): void;
}

export async function formatPlan(
  files: readonly PlannedFile[],
  formatting: Formatting,
): Promise<readonly PlannedFile[]> {
  const formatted: PlannedFile[] = [];
  for (const file of files) {
    throwIfAborted(formatting.signal);
    const after = await formatFile(file, formatting);
    formatted.push(after === undefined ? file : { ...file, after });
  }
  return formatted;
}

async function formatFile(file: PlannedFile, formatting: Formatting): Promise<Uint8Array | undefined> {
  const { formatter, engine, languageOf, signal, warn } = formatting;
  const { path, before, after } = file;
  if (after === null) return undefined;
  const language = languageOf(path);
  const name = language === undefined ? undefined : await formatter?.formatterOf(path, language);
  if (formatter === undefined || name === undefined || language === undefined) {
    warn(`no formatter: ${path}`);
    return undefined;
  }
  try {
    const request = { path, language, signal };
    if (before !== null && !same(await formatter.format({ ...request, bytes: before }), before)) {
      warn(`not formatted, it was not before either: ${path}`);
      return undefined;
    }
    const result = await formatter.format({ ...request, bytes: after });
    if (await isSound(engine, { path, language, after, result })) return result;
    warn(`not formatted, ${name} broke the syntax: ${path}`);
  } catch (thrown) {
    throwIfAborted(signal);
    const why = isToolError(thrown) ? `: ${thrown.message}` : '';
    warn(`not formatted, ${name} failed: ${path}${why}`);
  }
  return undefined;
}

interface Formatted {
  readonly path: string;
  readonly language: string;
  readonly after: Uint8Array;
  readonly result: Uint8Array;
}

async function isSound(engine: Engine, { path, language, after, result }: Formatted): Promise<boolean> {
  if (result.length === 0 && after.length > 0) return false;
  const [plain, formatted] = [
    await engine.index({ path, language, bytes: after }),
    await engine.index({ path, language, bytes: result }),
  ];
  return formatted.problemCount <= plain.problemCount && formatted.nodes.length === plain.nodes.length;
}

function same(left: Uint8Array, right: Uint8Array): boolean {
  return Buffer.compare(left, right) === 0;
}
