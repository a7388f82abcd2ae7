/**
 * A runtime that is opened anew when the operator changes what it was opened from: the registry, the list of trusted
 * content, the approved definitions of mounted servers. Clients then hear that the list of tools changed.
 *
 * The files are looked at once a second, because not every editor writes in a way that a watch of the system notices.
 * A registry that does not load leaves the old runtime in force, as if it had not been looked at.
 */
import { realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ErrorEntry } from '@tool-runtime/protocol';
import { toToolError } from '@tool-runtime/protocol';
import type { Runtime, RuntimeOptions } from '@tool-runtime/sdk';

export interface ReloadingOptions {
  open(): Promise<Runtime>;
  /** What the runtime depends on; asked after the first one opened. */
  files(): Promise<readonly string[]>;
  onRefused(error: ErrorEntry): void;
  readonly everyMs?: number;
}

export interface ReloadingRuntime {
  /** Opened with the first question. */
  current(): Promise<Runtime>;
  /** Tells that another took over; resolves when the last one is not needed any more. */
  onChange(listener: () => Promise<void>): void;
  /** Looks now instead of at the next second. */
  look(): Promise<void>;
  close(): Promise<void>;
}

const EVERY_MS = 1000;
const REGISTRY_FILE = 'tool-runtime.yaml';
const STATE_FILES = ['trusted-registries.json', 'mcp-pins.json'];

/** What a runtime is opened from. A registry that is given as text never changes. */
export async function governingFiles(from: {
  readonly workspace: string;
  readonly state: string | undefined;
  readonly registry: RuntimeOptions['registry'];
}): Promise<readonly string[]> {
  const { workspace, state, registry = join(workspace, REGISTRY_FILE) } = from;
  const { defaultStateFolder } = await import('@tool-runtime/sdk/parts');
  const folder = state ?? defaultStateFolder(realpathSync(workspace), process.env);
  const given = typeof registry === 'string' ? [registry] : [];
  return [...given, ...STATE_FILES.map((name) => join(folder, name))];
}

export function createReloadingRuntime(options: ReloadingOptions): ReloadingRuntime {
  const listeners: (() => Promise<void>)[] = [];
  const retiring = new Set<Promise<void>>();
  let runtime: Promise<Runtime> | undefined;
  let files: readonly string[] = [];
  let stamp = '';
  let looking: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  async function openFirst(): Promise<Runtime> {
    files = await options.files();
    // Before it opens: a change while it does is found afterwards.
    stamp = stampOf(files);
    const opened = await options.open();
    timer = setInterval(() => void look(), options.everyMs ?? EVERY_MS).unref();
    return opened;
  }

  async function reload(): Promise<void> {
    const now = stampOf(files);
    if (runtime === undefined || timer === undefined || now === stamp) return;
    stamp = now;
    // A cassette has the calls of one runtime.
    if ((await runtime).cassette() !== undefined) return;
    try {
      const next = await options.open();
      const last = runtime;
      runtime = Promise.resolve(next);
      const retired = retire(last).finally(() => retiring.delete(retired));
      retiring.add(retired);
    } catch (thrown) {
      options.onRefused(toToolError(thrown).toEntry());
    }
  }

  async function retire(last: Promise<Runtime>): Promise<void> {
    await Promise.allSettled(listeners.map((listener) => listener()));
    await (await last).close().catch(() => undefined);
  }

  function look(): Promise<void> {
    looking ??= reload().finally(() => {
      looking = undefined;
    });
    return looking;
  }

  return {
    current() {
      runtime ??= openFirst();
      return runtime;
    },
    onChange: (listener) => void listeners.push(listener),
    look,
    async close() {
      clearInterval(timer);
      timer = undefined;
      await looking;
      await Promise.all(retiring);
      await (await runtime)?.close();
    },
  };
}

function stampOf(files: readonly string[]): string {
  return files.map(stampOfFile).join('\n');
}

function stampOfFile(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true });
  return found === undefined ? 'none' : `${found.dev} ${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}`;
}
