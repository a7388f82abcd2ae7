/**
 * Formatters we know how to run as a filter, as data. All of them read settings, none of them runs code of the project:
 * one that does (prettier with its plugins) is the operator's to name.
 */

export interface FormatterFacts {
  readonly path: string;
  /** Text of the nearest file of this name, from the file's folder upwards. */
  nearest(name: string): Promise<string | undefined>;
}

export interface KnownFormatter {
  readonly name: string;
  /** Files that say a project uses it, with what must stand in them. None: the one form of its language. */
  readonly settings?: readonly { readonly file: string; readonly holds?: string }[];
  /** The program's bare name and its words; the text comes on standard input. */
  words(facts: FormatterFacts): readonly string[] | Promise<readonly string[]>;
}

const EDITION = /^\s*edition\s*=\s*"(\d{4})"/m;
const USUAL_EDITION = '2021';

export const KNOWN_FORMATTERS: readonly KnownFormatter[] = [
  {
    name: 'rustfmt',
    async words({ nearest }) {
      const edition = EDITION.exec((await nearest('Cargo.toml')) ?? '')?.[1] ?? USUAL_EDITION;
      return ['rustfmt', '--edition', edition, '--emit', 'stdout', '--quiet'];
    },
  },
  { name: 'gofmt', words: () => ['gofmt'] },
  {
    name: 'biome',
    settings: [{ file: 'biome.json' }, { file: 'biome.jsonc' }],
    words: ({ path }) => ['biome', 'format', `--stdin-file-path=${path}`],
  },
  {
    name: 'ruff',
    settings: [{ file: 'ruff.toml' }, { file: '.ruff.toml' }, { file: 'pyproject.toml', holds: '[tool.ruff' }],
    words: ({ path }) => ['ruff', 'format', '--quiet', `--stdin-filename=${path}`, '-'],
  },
  {
    name: 'black',
    settings: [{ file: 'pyproject.toml', holds: '[tool.black' }],
    words: ({ path }) => ['black', '--quiet', `--stdin-filename=${path}`, '-'],
  },
  {
    name: 'clang-format',
    settings: [{ file: '.clang-format' }, { file: '_clang-format' }],
    words: ({ path }) => ['clang-format', `--assume-filename=${path}`],
  },
  { name: 'shfmt', settings: [{ file: '.editorconfig' }], words: ({ path }) => ['shfmt', `--filename=${path}`] },
];
