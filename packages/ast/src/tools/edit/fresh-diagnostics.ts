/**
 * What running language servers find wrong after an edit and did not before. No server is started for it, and no call
 * waits longer than two seconds: an answer that comes too late is no answer.
 */
import { isToolError } from '@tool-runtime/protocol';
import { type Diagnostic, newDiagnostics } from '../../lsp/diagnostic-store.ts';
import type { LspManager } from '../../lsp/language-servers.ts';
import { languageId } from '../../lsp/server-session.ts';
import type { EditAnswer } from './edit-answer.ts';

type FreshDiagnostic = NonNullable<EditAnswer['diagnostics']>[number];

const BOUND_MS = 2_000;
const MAX_FILES = 20;

/** Asks now, and returns a function that asks again and returns what is new; undefined where no server answered. */
export async function watchDiagnostics(
  servers: LspManager,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<() => Promise<readonly FreshDiagnostic[] | undefined>> {
  const watched = paths.filter((path) => runningProvider(servers, path) !== undefined).slice(0, MAX_FILES);
  const before = await askAll(servers, watched, signal);
  return async () => {
    if (before.size === 0) return undefined;
    const after = await askAll(servers, [...before.keys()], signal);
    return [...after].flatMap(([file, found]) =>
      newDiagnostics(before.get(file) ?? [], found).map((one) => toWire(file, one)),
    );
  };
}

/** Of several for the file the one that runs. */
function runningProvider(servers: LspManager, path: string): string | undefined {
  const running = new Set(servers.list().flatMap(({ provider, state }) => (state === 'running' ? [provider] : [])));
  return servers.providers.find((provider) => running.has(provider.name) && languageId(provider, path) !== undefined)
    ?.name;
}

async function askAll(
  servers: LspManager,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly Diagnostic[]>> {
  const answers = await Promise.all(paths.map((path) => ask(servers, path, signal)));
  return new Map(
    answers.flatMap((found, place) => (found === undefined ? [] : [[paths[place] ?? '', found] as const])),
  );
}

async function ask(servers: LspManager, path: string, signal: AbortSignal): Promise<readonly Diagnostic[] | undefined> {
  const provider = runningProvider(servers, path);
  if (provider === undefined) return undefined;
  try {
    const server = await servers.serverOf(provider, path);
    // The project of this file may have a server of its own that does not run.
    if (server.state !== 'running') return undefined;
    const answer = await server.diagnostics(path, { timeoutMs: BOUND_MS, waitMs: BOUND_MS - 500, signal });
    return answer.isReported ? answer.diagnostics : undefined;
  } catch (thrown) {
    // Worth having, not worth failing for.
    if (!isToolError(thrown)) throw thrown;
    return undefined;
  }
}

function toWire(
  file: string,
  { startLine, startCharacter, severity, message, code, source }: Diagnostic,
): FreshDiagnostic {
  return {
    ...{ file, line: startLine + 1, col: startCharacter + 1, severity, message },
    ...(code === undefined ? {} : { code }),
    ...(source === undefined ? {} : { source }),
  };
}
