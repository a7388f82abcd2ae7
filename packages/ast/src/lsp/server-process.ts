/**
 * One process of a language server and the conversation with it, from its start to its end.
 *
 * It ends once and for one reason, which every pending and later request gets. Whatever ends it (its own exit, a broken
 * frame, we), the whole tree is gone before `ended` settles.
 */
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { isToolError, type ToolError } from '@tool-runtime/protocol';
import type { CommandRunner, RunningCommand } from '@tool-runtime/sdk';
import {
  CancellationTokenSource,
  ConnectionError,
  createMessageConnection,
  ErrorCodes,
  type MessageConnection,
  ResponseError,
} from 'vscode-jsonrpc/node';
import type { Deadline } from './deadline.ts';
import type { LspProvider } from './known-providers.ts';
import { createReader, createWriter, MessageBacklog, ServerOutput } from './message-streams.ts';
import { badAnswer, malformedFrame, notInstalled, serverGone } from './server-errors.ts';

export interface ServerListener {
  notification(method: string, params: unknown): void;
  progress(token: unknown, value: unknown): void;
  /** The answer to a request of the server's. */
  request(method: string, params: unknown): unknown;
}

export interface ProcessSetting {
  readonly commands: CommandRunner;
  readonly provider: LspProvider;
  /** Workspace-relative folder to start in. */
  readonly cwd: string;
  readonly listener: ServerListener;
  /** Kills the process, also while it starts. */
  readonly signal: AbortSignal;
  /** Takes places of the host out of text. */
  hide(text: string): string;
}

const TRANSPORT_CODES: readonly number[] = [
  ErrorCodes.MessageWriteError,
  ErrorCodes.MessageReadError,
  ErrorCodes.PendingResponseRejected,
  ErrorCodes.ConnectionInactive,
];
const KEPT_OUTPUT_BYTES = 4 * 1024;
const MAX_COMPLAINT = 300;
/** An answer may still be in the reader's queue when the process is gone; one message is taken per turn. */
const LAST_TURNS = 20;
/** Between a pipe that broke and the news that its reader ended. */
const EXIT_GRACE_MS = 200;
const NO_ANSWER = 'neither a result nor an error';
/** This many requests in a row without a sound from the server: it will not speak again. */
const MAX_SILENCES = 3;

/** Throws E_POLICY when the program is not there or may not run. */
export async function startServerProcess(setting: ProcessSetting): Promise<ServerProcess> {
  const { commands, provider, cwd, signal } = setting;
  const broken = Promise.withResolvers<ToolError>();
  const heard = { chunks: 0 };
  const backlog = new MessageBacklog();
  const output = new ServerOutput(backlog);
  const argv = [provider.command, ...provider.args];
  const starting = commands.start({
    list: { pipelines: [{ operator: null, commands: [{ argv, column: 1 }] }] },
    cwd,
    env: provider.env,
    stdin: 'open',
    network: false,
    onlyReads: true,
    maxOutputBytes: KEPT_OUTPUT_BYTES,
    signal,
    onOutput(stream, chunk) {
      heard.chunks += 1;
      if (stream === 'stdout') attempt(() => output.push(chunk), broken.resolve);
    },
  });
  const command = await starting.catch((thrown) => {
    throw cannotStart(provider, thrown);
  });
  return new ServerProcess(setting, { command, output, backlog, broken: broken.promise, heard });
}

function attempt(work: () => void, fail: (why: ToolError) => void): void {
  try {
    work();
  } catch (thrown) {
    // Thrown through the runner it would lose its reason.
    fail(isToolError(thrown) ? thrown : malformedFrame('output cannot be read'));
  }
}

/** A missing program is for the operator to fix; anything else keeps its own error. */
function cannotStart(provider: LspProvider, thrown: unknown): unknown {
  if (!isToolError(thrown) || thrown.code !== 'E_SHELL') return thrown;
  const { reason, next } = thrown.details;
  if (reason === 'outside_sandbox') {
    return notInstalled(provider.name, { reason, next: `${provider.install}, or ${String(next)}`, cause: thrown });
  }
  if (reason !== 'not_found' && reason !== 'not_visible') {
    return serverGone(provider.name, 'start_failed', { next: 'look at the program, or use another provider' });
  }
  const known = reason === 'not_found' ? 'not_installed' : 'not_visible';
  return notInstalled(provider.name, { reason: known, next: provider.install, cause: thrown });
}

interface Started {
  readonly command: RunningCommand;
  readonly output: ServerOutput;
  readonly backlog: MessageBacklog;
  readonly broken: Promise<ToolError>;
  readonly heard: { readonly chunks: number };
}

export class ServerProcess {
  readonly #setting: ProcessSetting;
  readonly #started: Started;
  readonly #connection: MessageConnection;
  readonly #ended = Promise.withResolvers<ToolError>();
  #why: ToolError | undefined;
  #silences = 0;

  constructor(setting: ProcessSetting, started: Started) {
    this.#setting = setting;
    this.#started = started;
    const { command, output, backlog } = started;
    this.#connection = createMessageConnection(createReader(output), createWriter(command), undefined, {
      messageStrategy: {
        handleMessage(message, next) {
          backlog.handled();
          return next(message);
        },
      },
    });
    this.#listen();
    started.broken.then((why) => this.end(why));
    command.done.then(
      ({ code, signal, stderr }) => this.#settle(this.#exited(code, signal, stderr.text)),
      (thrown) => this.#settle(isToolError(thrown) ? thrown : this.#exited(null, null, '')),
    );
  }

  get pids(): readonly number[] {
    return this.#started.command.pids;
  }

  /** Its end is decided; requests to it fail. */
  get isEnding(): boolean {
    return this.#why !== undefined;
  }

  /** Settles with the reason when nothing of it is left. */
  get ended(): Promise<ToolError> {
    return this.#ended.promise;
  }

  /** Throws E_TIMEOUT, the signal's reason, the server's own refusal as it came, or why it ended. */
  async request(method: string, params: unknown, deadline: Deadline): Promise<unknown> {
    const cancel = new CancellationTokenSource();
    const before = this.#started.heard.chunks;
    const isLate = { value: false };
    try {
      const answer = await deadline.race(Promise.race([this.#send(method, params, cancel), this.#gone()]), {
        late: 'request_timeout',
        abandon: () => {
          isLate.value = true;
          cancel.cancel();
        },
      });
      this.#silences = 0;
      return answer;
    } finally {
      if (isLate.value) this.#countSilence(before);
    }
  }

  notify(method: string, params: unknown): void {
    if (this.#why !== undefined) return;
    // A write fails only because the process is gone, which `ended` says.
    this.#connection.sendNotification(method, params).catch(() => {});
  }

  /** Kills the tree. The first reason counts. */
  end(why: ToolError): void {
    if (this.#why !== undefined) return;
    this.#why = why;
    this.#started.command.stop().catch(() => {});
  }

  async #send(method: string, params: unknown, { token }: CancellationTokenSource): Promise<unknown> {
    if (this.#why !== undefined) throw this.#why;
    const given = params === undefined ? [token] : [params, token];
    try {
      return await this.#connection.sendRequest(method, ...given);
    } catch (thrown) {
      if (!isTransportFault(thrown)) throw thrown instanceof ResponseError ? thrown : badAnswer(method, NO_ANSWER);
      // It closed its input: it is gone, which says itself why, or as good as.
      await Promise.race([this.ended, delay(EXIT_GRACE_MS)]);
      this.end(serverGone(this.#setting.provider.name, 'server_exited'));
      return this.#gone();
    }
  }

  async #gone(): Promise<never> {
    throw await this.ended;
  }

  #listen(): void {
    const connection = this.#connection;
    const { listener } = this.#setting;
    connection.onNotification((method, params) => listener.notification(method, params));
    connection.onUnhandledProgress(({ token, value }) => listener.progress(token, value));
    connection.onRequest((method, params) => listener.request(method, params) ?? null);
    connection.onError(([, message]) => {
      // With a message it is a write that failed, which says nothing about what the server said.
      if (message === undefined) this.end(malformedFrame('message cannot be read'));
    });
    connection.listen();
  }

  #countSilence(heardBefore: number): void {
    this.#silences = this.#started.heard.chunks === heardBefore ? this.#silences + 1 : 0;
    if (this.#silences >= MAX_SILENCES) this.end(serverGone(this.#setting.provider.name, 'server_silent'));
  }

  #exited(code: number | null, signal: string | null, stderr: string): ToolError {
    const complaint = this.#setting.hide(lastLine(stderr)).slice(0, MAX_COMPLAINT);
    return serverGone(this.#setting.provider.name, 'server_exited', {
      exit: code ?? signal ?? 'unknown',
      ...(complaint === '' ? {} : { complaint }),
    });
  }

  async #settle(exit: ToolError): Promise<void> {
    for (let turn = 0; turn < LAST_TURNS; turn++) await nextTurn();
    this.#why ??= exit;
    this.#ended.resolve(this.#why);
    // Disposing rejects what is pending too, but without the reason: that one goes first.
    await nextTurn();
    this.#started.output.close();
    this.#connection.dispose();
  }
}

function isTransportFault(thrown: unknown): boolean {
  if (thrown instanceof ConnectionError) return true;
  return thrown instanceof ResponseError && TRANSPORT_CODES.includes(thrown.code);
}

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1)?.trim() ?? '';
}
