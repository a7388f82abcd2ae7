/** A workspace, a command runner and language servers on a folder of their own, for tests; gone with the test. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createCommandRunner, createWorkspace, openRoot } from '@tool-runtime/sdk/testing';
import type { LspTimers } from '../src/lsp/deadline.ts';
import type { LspProvider } from '../src/lsp/known-providers.ts';
import type { LanguageServer } from '../src/lsp/language-server.ts';
import { createLspManager, type LspManager, type LspManagerOptions } from '../src/lsp/language-servers.ts';

const MODULES = realpathSync(fileURLToPath(new URL('../../../node_modules', import.meta.url)));
const FIXTURES = fileURLToPath(new URL('../src/lsp/fixtures', import.meta.url));

export interface ScratchServers {
  /** Absolute path of the workspace. */
  readonly root: string;
  readonly manager: LspManager;
  write(path: string, text: string): void;
  remove(path: string): void;
}

export interface ScratchOptions extends Partial<Omit<LspManagerOptions, 'root' | 'commands'>> {
  readonly files?: Readonly<Record<string, string>>;
  readonly isolation?: 'bubblewrap' | 'none';
  readonly programFolders?: readonly string[];
}

export function openScratchServers(t: TestContext, options: ScratchOptions): ScratchServers {
  const { files = {}, isolation = 'none', providers = [], programFolders = [join(MODULES, '.bin')], ...rest } = options;
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'lsp-')));
  const [root, state] = [join(scratch, 'workspace'), join(scratch, 'state')];
  mkdirSync(root);
  mkdirSync(state, { mode: 0o700 });
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  const readPaths = [MODULES, FIXTURES];
  const commands = createCommandRunner({
    workspace: root,
    state,
    isolation,
    allowedDomains: [],
    programFolders,
    readPaths,
  });
  const folder = openRoot(root);
  const manager = createLspManager({ workspace: createWorkspace(folder), providers, ...rest, root, commands });
  t.after(async () => {
    await manager.close();
    await commands.close();
    folder.close();
    rmSync(scratch, { recursive: true, force: true });
  });
  return { root, manager, write, remove: (path) => rmSync(join(root, path), { recursive: true }) };
}

export type Step = Readonly<Record<string, unknown>>;

export interface Script {
  readonly capabilities?: Readonly<Record<string, unknown>>;
  readonly atStart?: readonly Step[];
  readonly afterInitialized?: readonly Step[];
  /** Method → what to do at its first, second, … call; the last is repeated. */
  readonly on?: Readonly<Record<string, readonly (readonly Step[])[]>>;
}

/** A server for `.txt` files that does what it is told. */
export function scripted(script: Script = {}, changes: Partial<LspProvider> = {}): LspProvider {
  return {
    name: 'scripted',
    command: 'node',
    args: [join(FIXTURES, 'scripted-server.mjs'), JSON.stringify(script)],
    languages: ['text'],
    documents: { '.txt': 'text' },
    rootMarkers: ['root.marker'],
    initializationOptions: {},
    settings: {},
    env: {},
    ready: { kind: 'immediate' },
    memoryMb: 1024,
    install: 'install the scripted server',
    ...changes,
  };
}

export interface Message {
  readonly id?: number | string;
  readonly method?: string;
  // biome-ignore lint/suspicious/noExplicitAny: whatever a message carries
  readonly params?: any;
  readonly result?: unknown;
}

/** What the scripted server got so far, places of the host taken out. */
export async function received(server: LanguageServer): Promise<readonly Message[]> {
  const symbols = await server.workspaceSymbol('received');
  return symbols.map(({ name }) => JSON.parse(name) as Message);
}

export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await delay(5);
}

/** Time that passes only when told to. */
export class ManualTimers implements LspTimers {
  #now = 0;
  readonly #armed = new Set<{ readonly at: number; run(): void }>();

  monotonic(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): () => void {
    const armed = { at: this.#now + ms, run };
    this.#armed.add(armed);
    return () => this.#armed.delete(armed);
  }

  /** Whether something waits for exactly this long from now. */
  isArmed(ms: number): boolean {
    return [...this.#armed].some(({ at }) => at === this.#now + ms);
  }

  pass(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const [next] = [...this.#armed].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
      if (next === undefined) break;
      this.#armed.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.run();
    }
    this.#now = end;
  }
}
