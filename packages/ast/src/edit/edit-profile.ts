/**
 * What edits must know about a language beyond its profile: `languages/<id>/edit.json`, optional like every field in it.
 * Without it a language has every operation that the tree alone can do, and no import edits.
 */
import { existsSync, readFileSync } from 'node:fs';
import * as z from 'zod';
import { LANGUAGES_FOLDER } from '../profile/load-profile.ts';

const kinds = z.array(z.string()).default([]);

const imports = z.strictObject({
  /** Nodes that are one import, as lines are added and removed. */
  statements: z.array(z.string()).min(1),
  /** Nodes that must stay above imports: package clause, inner attributes. */
  header: kinds,
  /** Sources whose imports come before all others. */
  first: z.array(z.string()).default([]),
  /** Nodes that hold a list of names, for merging: `, name` is added after the last name. */
  lists: kinds,
  /** Nodes that hold one import per line between brackets: Go's `import ( … )`. */
  blocks: kinds,
  /**
   * How imports are written: `{source}`, `{quoted}` the source in the file's quotes, `{name}`, `{alias}`, `{;}` the file's
   * semicolon, `{type}` the word for type-only imports. `module` takes no name, `star` all of them.
   */
  forms: z.strictObject({
    module: z.string().optional(),
    module_alias: z.string().optional(),
    name: z.string().optional(),
    name_alias: z.string().optional(),
    default: z.string().optional(),
    star: z.string().optional(),
    star_alias: z.string().optional(),
    type: z.string().default(''),
    /** One import inside of a block. */
    block: z.string().optional(),
    block_alias: z.string().optional(),
  }),
  /** One name in a list. */
  specifier: z.strictObject({ name: z.string(), alias: z.string() }).optional(),
  /** The first is taken by files that show no habit. */
  quotes: z.array(z.string()).default(["'"]),
});

const move = z.strictObject({
  /**
   * How a module names another: `path` by a relative path in quotes, `dotted` by package names, `folder` not at all
   * because all files of a folder are one.
   */
  by: z.enum(['path', 'dotted', 'folder']),
  /** What makes a declaration visible to other files, in front of it. */
  export: z.string().optional(),
  /** How a name is passed on from another module. */
  reexport: z.string().optional(),
  /** An import cycle is an error at run time, not a matter of taste. */
  cycles: z.enum(['allowed', 'refused']).default('allowed'),
  /** A declaration whose text matches must be in a file that bears its name. */
  alone: z.string().optional(),
  /** Nodes that say which package a file is of; both files must say the same. */
  package: kinds,
});

const editProfileSchema = z.strictObject({
  /** Takes over the whole file of another language. */
  same_as: z.string().optional(),
  /** One level, for files that show none. */
  indent: z.string().default('    '),
  /** A statement that an otherwise empty body needs. */
  placeholder: z.string().optional(),
  /** Constants and variants without a value count on from the one before. */
  counts_on: z.boolean().default(false),
  /** Stands for `$` in rewrite patterns where `$` cannot begin a name. */
  expando: z.string().default('$'),
  /** Code around a rewrite pattern, `{}` for the pattern, where it would be read as something else when alone. */
  contexts: z.array(z.string()).default([]),
  imports: imports.optional(),
  move: move.optional(),
});

export type EditProfile = z.infer<typeof editProfileSchema>;
export type ImportForms = NonNullable<EditProfile['imports']>;
export type MoveForms = NonNullable<EditProfile['move']>;

export type EditProfiles = (language: string) => EditProfile;

/** Each is read once. Broken data is a mistake of the package. */
export function createEditProfiles(folder: URL = LANGUAGES_FOLDER): EditProfiles {
  const loaded = new Map<string, EditProfile>();
  return (language) => {
    const known = loaded.get(language) ?? readProfile(language, folder);
    loaded.set(language, known);
    return known;
  };
}

function readProfile(language: string, folder: URL): EditProfile {
  const file = new URL(`${language}/edit.json`, folder);
  const profile = editProfileSchema.parse(existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {});
  return profile.same_as === undefined ? profile : readProfile(profile.same_as, folder);
}
