/** The form of `languages/<id>/profile.json`: everything the engine knows about a language that is not a query. */
import * as z from 'zod';
import { NODE_TYPES } from '../contracts/facts.ts';

const regex = z.string().refine(compiles, { error: 'Not a valid regular expression' });
const words = z.array(z.string()).default([]);

const exported = z.strictObject({
  /**
   * What makes a declaration visible outside. `node`: a `@vis` text matches `match`. `absent`: no `@vis` text matches
   * `hidden`. `ancestor`: an `@export` around it, or an `@export.name` elsewhere. `case`: the name's first letter is
   * upper case. `name`: the name matches `match`; an `@export.list` wins for the top of the file.
   */
  by: z.enum(['node', 'absent', 'ancestor', 'case', 'name', 'always', 'never']),
  match: regex.optional(),
  /** A `@vis` or `@section` text, or a name, that hides the declaration regardless of the rest. */
  hidden: regex.optional(),
  /** As `hidden`, for what is no member of a type (C++: `static` hides a function, not a method). */
  hidden_outside: regex.optional(),
  hidden_name: regex.optional(),
  /** An attribute that exports regardless of the rest (Rust: `#[macro_export]`). */
  attr: regex.optional(),
  /** Members of these are visible when the container is, unless hidden. */
  inherit: z.array(z.enum(NODE_TYPES)).default([]),
  /** `@section` text that holds from the start of a container of that type (C++: class → private). */
  initial_section: z.partialRecord(z.enum(NODE_TYPES), z.string()).default({}),
});

const doc = z.strictObject({
  by: z.enum(['leading', 'docstring', 'none']),
  /** Tells a doc comment from a plain one. */
  match: regex.default(''),
  /** Comments that look like docs but are not: directives, inner docs. */
  exclude: regex.optional(),
  /** What people call it: "JSDoc", "rustdoc". */
  label: z.string().default('doc comment'),
  /** How to write one: `open` and `close` are lines of their own (docstring: quotes), `line` begins each line of text. */
  form: z
    .strictObject({ open: z.string().default(''), line: z.string().default(''), close: z.string().default('') })
    .prefault({}),
});

const test = z.strictObject({
  /** On the text of an attribute or decorator of the declaration. */
  attr: regex.optional(),
  /** On the name of a function, in files of `paths` only. */
  name: regex.optional(),
  /** Files that hold nothing but tests. */
  paths: words,
});

/** Names of references that mean the same to a rule, by the kind of reference. */
const refNames = z.strictObject({ call: words, macro: words }).prefault({});

export const profileSchema = z.strictObject({
  id: z.string().regex(/^[a-z][a-z0-9-]*$/),
  label: z.string().min(1),
  /** Name in grammars/lock.json. */
  grammar: z.string().min(1),
  /** Language whose queries come first; the own files add to them. For grammars that share their node kinds. */
  queries_from: z.string().optional(),
  detect: z.strictObject({ ext: words, names: words, shebang: words }),
  identifier: z.strictObject({ regex, keywords: words }),
  kinds: z.strictObject({
    value: words,
    type: words,
    member: words,
    shorthand: words,
    opaque: words,
    comment: words,
    string: words,
  }),
  /** Names that make a `var` a `const`, where the language has no word for it. */
  constants: regex.optional(),
  exported,
  doc,
  test: test.prefault({}),
  /** How `@import.tree` is written. */
  imports: z.strictObject({ separator: z.string().min(1), self: z.string().optional() }).optional(),
  /** What ends the program (`panic!`, `os.Exit`) and what takes a value or dies (`.unwrap()`). */
  panic: refNames,
  unwrap: refNames,
  library: z.strictObject({ not: words }).prefault({}),
  /** `advisory`: the grammar reports errors in correct code, so they must not block a write. */
  errors: z.enum(['blocking', 'advisory']).default('blocking'),
  format: words,
  lsp: words,
  build: words,
});

export type LanguageProfile = z.infer<typeof profileSchema>;

function compiles(source: string): boolean {
  try {
    new RegExp(source, 'u');
    return true;
  } catch {
    return false;
  }
}
