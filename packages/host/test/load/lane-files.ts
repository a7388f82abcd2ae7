/**
 * Files of the workspace as the calls should leave them. Each lane has its own, so that what it wrote last is known;
 * what a broken connection left in doubt has several right contents until they are read.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Problems } from './problems.ts';

export const SOURCE_FILES = 20;

const TEMPORARY = /(?:^|\/)\.tool-runtime-tmp-[-0-9a-f]+$/;

export function sourceName(index: number): string {
  return `src/file-${index}.txt`;
}

/** 1 KB each, and a word in every fourth that `grep` looks for. */
export function sourceText(index: number): string {
  const line = `line of file ${index} ${index % 4 === 0 ? 'needle' : 'hay'}\n`;
  return line.repeat(64).slice(0, 1023).concat('\n');
}

/** What lies in the workspace before the first call. */
export function initialFiles(lanes: number): Record<string, string> {
  const files: Record<string, string> = { '.gitignore': 'lanes/\nmade/\n' };
  for (let index = 0; index < SOURCE_FILES; index++) files[sourceName(index)] = sourceText(index);
  for (let lane = 0; lane < lanes; lane++) files[`lanes/${lane}/count.txt`] = countText(0);
  return files;
}

export function countText(count: number): string {
  return `before\ncount ${count}\nafter\n`;
}

/** Content that a file may have now. `undefined` stands for no file at all. */
export class ExpectedFiles {
  readonly #contents = new Map<string, Set<string | undefined>>();
  /** Lines that were added under a key: exactly once, or, while that is unknown, at most once. */
  readonly #lines = new Map<string, Map<string, 'once' | 'at most once'>>();

  constructor(initial: Readonly<Record<string, string>>) {
    for (const [name, text] of Object.entries(initial)) this.is(name, text);
  }

  is(name: string, text: string): void {
    this.#contents.set(name, new Set([text]));
  }

  mayBe(name: string, text: string): void {
    const known = this.#contents.get(name) ?? new Set([undefined]);
    this.#contents.set(name, known.add(text));
  }

  line(name: string, line: string, times: 'once' | 'at most once'): void {
    const lines = this.#lines.get(name) ?? new Map<string, 'once' | 'at most once'>();
    this.#lines.set(name, lines.set(line, times));
  }

  /** `temporary`: a process that was killed may leave files under names of its own, which a later write clears away. */
  check(workspace: string, problems: Problems, { leftovers }: { readonly leftovers: 'none' | 'temporary' }): void {
    for (const [name, contents] of this.#contents) {
      const file = join(workspace, name);
      const text = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
      if (!contents.has(text)) problems.add(`wrong content: ${name}: ${JSON.stringify(text)?.slice(0, 200)}`);
    }
    for (const [name, lines] of this.#lines) this.#checkLines(workspace, { name, lines }, problems);
    for (const name of filesBelow(workspace)) {
      if (leftovers === 'temporary' && TEMPORARY.test(name)) continue;
      if (!this.#contents.has(name) && !this.#lines.has(name)) problems.add(`file nobody asked for: ${name}`);
    }
  }

  #checkLines(
    workspace: string,
    { name, lines }: { readonly name: string; readonly lines: ReadonlyMap<string, 'once' | 'at most once'> },
    problems: Problems,
  ): void {
    const file = join(workspace, name);
    const counts = new Map<string, number>();
    const written = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
    for (const line of written) {
      counts.set(line, (counts.get(line) ?? 0) + 1);
      if (!lines.has(line)) problems.add(`line nobody asked for in ${name}: ${line}`);
    }
    for (const [line, times] of lines) {
      const count = counts.get(line) ?? 0;
      if (count > 1) problems.add(`effect ${count} times in ${name}: ${line}`);
      else if (count === 0 && times === 'once') problems.add(`acknowledged effect is missing in ${name}: ${line}`);
    }
  }
}

function filesBelow(workspace: string): readonly string[] {
  return readdirSync(workspace, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(workspace.length + 1))
    .filter((name) => !name.startsWith('.git/'));
}
