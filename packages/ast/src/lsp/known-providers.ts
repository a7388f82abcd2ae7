/**
 * The language servers we know how to run, as data. Nothing is ever downloaded: a server counts when its program is
 * installed where commands find theirs. Of several for one language the first that starts is used.
 */
import type { JsonObject } from '@tool-runtime/protocol';
import type { ReadyStrategy } from './ready-strategy.ts';

export interface LspProvider {
  readonly name: string;
  /** A program's bare name; the command runner knows where programs are. */
  readonly command: string;
  readonly args: readonly string[];
  /** Ids of our language profiles. */
  readonly languages: readonly string[];
  /** How a file name ends → the language id of the protocol. */
  readonly documents: Readonly<Record<string, string>>;
  /** The outermost folder with one of these names is the server's root. */
  readonly rootMarkers: readonly string[];
  readonly initializationOptions: JsonObject;
  /** Answers `workspace/configuration`, by dotted section. */
  readonly settings: JsonObject;
  readonly env: Readonly<Record<string, string>>;
  readonly ready: ReadyStrategy;
  /** Resident memory of all its processes together; above it the server is restarted. */
  readonly memoryMb: number;
  /** What the operator has to do to have it. */
  readonly install: string;
}

const SCRIPTS = {
  '.ts': 'typescript',
  '.mts': 'typescript',
  '.cts': 'typescript',
  '.tsx': 'typescriptreact',
  '.js': 'javascript',
  '.mjs': 'javascript',
  '.cjs': 'javascript',
  '.jsx': 'javascriptreact',
};
const SCRIPT_ROOTS = ['tsconfig.json', 'jsconfig.json', 'package.json'];
const SCRIPT_LANGUAGES = ['typescript', 'tsx', 'javascript'];
const NOTHING = { initializationOptions: {}, settings: {}, env: {} };

export const KNOWN_PROVIDERS: readonly LspProvider[] = [
  {
    ...NOTHING,
    name: 'typescript',
    command: 'tsc',
    args: ['--lsp', '--stdio'],
    languages: SCRIPT_LANGUAGES,
    documents: SCRIPTS,
    rootMarkers: SCRIPT_ROOTS,
    ready: { kind: 'immediate' },
    memoryMb: 3072,
    install: 'install TypeScript 7 (npm install -g typescript@7) and show its folder to commands',
  },
  {
    ...NOTHING,
    name: 'typescript-language-server',
    command: 'typescript-language-server',
    args: ['--stdio'],
    languages: SCRIPT_LANGUAGES,
    documents: SCRIPTS,
    rootMarkers: SCRIPT_ROOTS,
    // The first rename covers the open file only; complete when the project's progress ended.
    ready: { kind: 'progress-idle', quietMs: 300, graceMs: 5_000 },
    // It would otherwise fetch type declarations.
    initializationOptions: { disableAutomaticTypingAcquisition: true },
    memoryMb: 3072,
    install:
      'install typescript-language-server and typescript 5 (npm install -g typescript-language-server typescript@5)',
  },
  {
    ...NOTHING,
    name: 'pyright',
    command: 'pyright-langserver',
    args: ['--stdio'],
    languages: ['python'],
    documents: { '.py': 'python', '.pyi': 'python' },
    rootMarkers: ['pyrightconfig.json', 'pyproject.toml', 'setup.py', 'setup.cfg', 'requirements.txt'],
    // It looks for its files some time after it is told that one came or went.
    ready: { kind: 'log-match', lines: ['Found * source file*', 'No source files found*'], rescanMs: 3_000 },
    settings: { python: { analysis: { autoSearchPaths: true, diagnosticMode: 'openFilesOnly' } } },
    memoryMb: 2560,
    install: 'install Pyright (npm install -g pyright) and show its folder to commands',
  },
  {
    ...NOTHING,
    name: 'gopls',
    command: 'gopls',
    args: ['serve'],
    languages: ['go'],
    documents: { '.go': 'go' },
    rootMarkers: ['go.work', 'go.mod'],
    // There is no network in the sandbox; without these it waits for one. No `-mod=mod`: it would pass over vendored modules.
    env: { GOPROXY: 'off', GOTOOLCHAIN: 'local' },
    ready: { kind: 'immediate' },
    memoryMb: 3072,
    install: 'install gopls and a Go tool chain (apt-get install gopls golang-go)',
  },
  {
    ...NOTHING,
    name: 'clangd',
    command: 'clangd',
    args: ['--background-index', '--clang-tidy=false', '--log=error'],
    languages: ['c', 'cpp'],
    documents: {
      '.c': 'c',
      '.h': 'c',
      '.cc': 'cpp',
      '.cpp': 'cpp',
      '.cxx': 'cpp',
      '.hh': 'cpp',
      '.hpp': 'cpp',
      '.hxx': 'cpp',
    },
    rootMarkers: ['compile_commands.json', 'compile_flags.txt', '.clangd', 'CMakeLists.txt'],
    // It reads the sources of the project in the background; a rename before that leaves out what is not read yet.
    ready: { kind: 'progress-idle', quietMs: 300, graceMs: 5_000 },
    memoryMb: 4096,
    install: 'install clangd (apt-get install clangd) and give the project a compile_commands.json',
  },
  {
    ...NOTHING,
    name: 'rust-analyzer',
    command: 'rust-analyzer',
    args: [],
    languages: ['rust'],
    documents: { '.rs': 'rust' },
    rootMarkers: ['Cargo.toml', 'rust-project.json'],
    env: { CARGO_NET_OFFLINE: 'true' },
    // Checks write into the workspace; build scripts and procedural macros run code of the project's dependencies.
    initializationOptions: {
      checkOnSave: false,
      cargo: { buildScripts: { enable: false } },
      procMacro: { enable: false },
    },
    ready: { kind: 'status-quiescent' },
    memoryMb: 6144,
    install:
      'install rust-analyzer and cargo (rustup component add rust-analyzer rust-src) and show their folder to commands',
  },
];
