/**
 * Formats text by the command the registry names, else by the formatter whose settings lie in the project, else by the one
 * form a language has. Never by taste.
 */
import { posix } from 'node:path';
import { isToolError, ToolError } from '@tool-runtime/protocol';
import type { CommandRunner, Registry, Workspace } from '@tool-runtime/sdk';
import type { FormatRequest, Formatter } from '../edit/editor.ts';
import { loadProfile } from '../profile/load-profile.ts';
import { runFilter } from './run-filter.ts';

export interface CodeFormatterParts {
  readonly commands: CommandRunner;
  readonly workspace: Workspace;
  readonly registry: Pick<Registry, 'commands'>;
  redact(text: string): string;
}

const MAX_SETTINGS_BYTES = 256 * 1024;
const SHOWN_CHARACTERS = 500;

export function createCodeFormatter(parts: CodeFormatterParts): Formatter {
  const chosen = new Map<string, Promise<Choice | undefined>>();
  const choiceFor = (path: string, language: string): Promise<Choice | undefined> => {
    const key = `${posix.dirname(path)}\0${language}`;
    const known = chosen.get(key) ?? choose(path, language, parts);
    chosen.set(key, known);
    return known;
  };
  return {
    formatterOf: async (path, language) => (await choiceFor(path, language))?.name,
    async format(request) {
      const choice = await choiceFor(request.path, request.language);
      if (choice === undefined) throw noFormatter(request.path);
      return run(choice, request, parts);
    },
  };
}

interface Choice {
  readonly name: string;
  command(path: string): Promise<string | readonly string[]>;
}

async function choose(path: string, language: string, parts: CodeFormatterParts): Promise<Choice | undefined> {
  const { commands } = parts.registry;
  const line = commands[`format.${language}`] ?? commands['format'];
  if (line !== undefined) return { name: line, command: async (file) => withWord(line, file) };
  for (const name of loadProfile(language).profile.format) {
    const formatter = KNOWN_FORMATTERS.find((one) => one.name === name);
    if (formatter === undefined || !(await isUsed(formatter, path, parts.workspace))) continue;
    const command = async (file: string) =>
      formatter.words({ path: file, nearest: (settings) => nearest(file, settings, parts.workspace) });
    return { name, command };
  }
  return undefined;
}

/** Quoted, so that the parser of command lines takes it for one word. */
function withWord(line: string, path: string): string {
  if (/^[\w./@+-]+$/.test(path)) return `${line} ${path}`;
  if (!path.includes("'")) return `${line} '${path}'`;
  throw new ToolError('E_SHELL', `File name cannot be given to a formatter: ${path}`, { path });
}

async function isUsed({ settings }: KnownFormatter, path: string, workspace: Workspace): Promise<boolean> {
  if (settings === undefined) return true;
  for (const { file, holds } of settings) {
    const text = await nearest(path, file, workspace);
    if (text !== undefined && (holds === undefined || text.includes(holds))) return true;
  }
  return false;
}

async function nearest(path: string, name: string, workspace: Workspace): Promise<string | undefined> {
  for (let folder = posix.dirname(path); ; folder = posix.dirname(folder)) {
    const file = posix.join(folder, name);
    if ((await workspace.stat(file))?.type === 'file') return readText(file, workspace);
    if (folder === '.') return undefined;
  }
}

async function readText(file: string, workspace: Workspace): Promise<string | undefined> {
  try {
    return Buffer.from((await workspace.readFile(file, { maxBytes: MAX_SETTINGS_BYTES })).bytes).toString('utf8');
  } catch (thrown) {
    // Settings that cannot be read count as absent.
    if (!isToolError(thrown)) throw thrown;
    return undefined;
  }
}

async function run(
  choice: Choice,
  { path, bytes, signal }: FormatRequest,
  parts: CodeFormatterParts,
): Promise<Uint8Array> {
  const command = await choice.command(path);
  const { code, stdout, shown } = await runFilter(parts.commands, { command, stdin: bytes, signal });
  if (code === 0) return stdout;
  const output = parts.redact(shown).trim().slice(0, SHOWN_CHARACTERS);
  throw new ToolError('E_SHELL', `Formatter failed, exit code ${code}: ${choice.name}`, {
    path,
    details: { reason: 'formatter_failed', exit_code: code, output },
  });
}

function noFormatter(path: string): ToolError {
  return new ToolError('E_SHELL', `No formatter for this file: ${path}`, { path, details: { reason: 'no_formatter' } });
}

/**
 * Formatters we know how to run as a filter, as data. All of them read settings, none of them runs code of the project:
 * one that does (prettier with its plugins) is the operator's to name.
 */
interface FormatterFacts {
  readonly path: string;
  /** Text of the nearest file of this name, from the file's folder upwards. */
  nearest(name: string): Promise<string | undefined>;
}

interface KnownFormatter {
  readonly name: string;
  /** Files that say a project uses it, with what they must contain. Empty: the formatter of its language. */
  readonly settings?: readonly { readonly file: string; readonly holds?: string }[];
  /** The program's bare name and its words; the text comes on standard input. */
  words(facts: FormatterFacts): readonly string[] | Promise<readonly string[]>;
}

const EDITION = /^\s*edition\s*=\s*"(\d{4})"/m;
const USUAL_EDITION = '2021';

const KNOWN_FORMATTERS: readonly KnownFormatter[] = [
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
