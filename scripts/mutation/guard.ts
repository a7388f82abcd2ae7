/**
 * One security check of the sources, how the code reads without it, and the tests that must then fail.
 *
 * The lists are beside the checks, in files called guards.json: an array of entries, paths relative to the list.
 */
import path from 'node:path';
import { z } from 'zod';

export interface Guard {
  /** `area.what-is-lost-without-it`, unique in the repository. */
  readonly id: string;
  /** The list that holds the entry. */
  readonly list: string;
  readonly file: string;
  /** Code that occurs once in the file. */
  readonly find: string;
  readonly replace: string;
  readonly tests: readonly GuardTest[];
}

/** Written `file.test.ts`, or `file.test.ts#some words of names` where the rest of the file would only take time. */
export interface GuardTest {
  readonly file: string;
  readonly name?: string;
}

export interface GuardList {
  readonly guards: readonly Guard[];
  /** Why the list cannot be read. */
  readonly problem?: string;
}

const LIST = /^packages\/[^/]+\/src\/(?:.*\/)?guards\.json$/;

const entry = z.strictObject({
  id: z.string().regex(/^[a-z][a-z0-9]*(?:[.-][a-z0-9]+)+$/),
  file: z.string().min(1),
  find: z.string().min(1),
  replace: z.string(),
  tests: z.array(z.string().min(1)).min(1),
});

export function isGuardList(file: string): boolean {
  return LIST.test(file);
}

/** Paths come out relative to the root, as `list` is. */
export function parseGuards(list: string, text: string): GuardList {
  const parsed = z.array(entry).safeParse(parseJson(text));
  if (!parsed.success) return { guards: [], problem: z.prettifyError(parsed.error) };
  const beside = (name: string) => path.posix.join(path.posix.dirname(list), name);
  const readTest = (written: string): GuardTest => {
    const [file = '', name] = written.split(/#(.*)/s);
    return { file: beside(file), ...(name === undefined ? {} : { name }) };
  };
  return {
    guards: parsed.data.map((one) => ({ ...one, list, file: beside(one.file), tests: one.tests.map(readTest) })),
  };
}

export function shownTest({ file, name }: GuardTest): string {
  return name === undefined ? file : `${file}#${name}`;
}

/** Text that is no JSON fails the schema, which says what was expected. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
