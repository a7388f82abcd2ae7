/** Runs a host for the `serve` command, until a signal or a request to stop. */
import { resolve } from 'node:path';
import { SCOPES } from '@tool-runtime/protocol';
import type { RuntimeOptions } from '@tool-runtime/sdk';
import { createRedactor } from '@tool-runtime/sdk/parts';
import { ensureTokenFile } from '../auth/token-file.ts';
import { createTokenBook } from '../auth/tokens.ts';
import { hostBasis } from '../ops/host-basis.ts';
import { claimState } from '../ops/host-file.ts';
import { hostVersion } from '../ops/host-version.ts';
import { createLog, type Log } from '../ops/log.ts';
import type { Host } from '../sessions/create-host.ts';
import { type RunningHost, type StartHostOptions, startHost } from '../start-host.ts';
import { printJson, printLine } from '../terminal/terminal.ts';
import type { ServeOptions } from './commands/serve.ts';
import { coordinatorOf, hostOptions, runtimeOptions, secretsOfHost, servePlaces } from './serve-options.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export async function runHost(options: ServeOptions): Promise<void> {
  const { state, tokenFile } = servePlaces(options);
  const coordinator = coordinatorOf(options);
  const log = createLog({
    stream: process.stderr,
    level: options.logLevel,
    format: options.logFormat,
    redact: createRedactor({ secrets: secretsOfHost() }).redactText,
  });
  const stopping = Promise.withResolvers<void>();
  const claim = claimState(state, { version: hostVersion(), now: Date.now });
  try {
    const basis = basisOf(options, state);
    const { mainToken } = ensureTokenFile(tokenFile);
    const telemetry = await telemetryOf(options);
    const fleet = await fleetOf(options, log);
    const running = await startHost({
      ...fleet,
      ...hostOptions(options, state),
      tokens: createTokenBook({
        path: tokenFile,
        now: Date.now,
        onBadFile: (error) => log.error('token_file_unusable', { error }),
      }),
      log,
      serverVersion: hostVersion(),
      runtime: () => ({ ...runtimeOptions(options, coordinator, log), ...telemetry }),
      onStopRequested: stopping.resolve,
    });
    const { url, socket } = running;
    const places = {
      ...(url === undefined ? {} : { http: url }),
      ...(socket === undefined ? {} : { socket }),
      tokenFile,
    };
    // Taken before anything was read and again now, so that it is true of what was read in between.
    claim.publish({ ...places, ...(basis === undefined || basis !== basisOf(options, state) ? {} : { basis }) });
    // It was true of the first registry. Commands make their calls themselves from here on.
    running.host.workspaces.onChange(() => claim.publish(places));
    const token = options.showToken === true ? mainToken : undefined;
    announceHost(
      { url, socket, tokenFile, token, console: consoleOf(running) },
      { json: options.json === true, named: namedBy(options) },
    );
    const stopRotating = keepRotating(running.host, { keepDays: options.keepDays });
    const asking = new AbortController();
    const asked = options.ask === true ? askHere(options, asking.signal, stopping.resolve) : undefined;
    await untilStopped(running, stopping.promise);
    asking.abort();
    await asked;
    stopRotating();
    await coordinator?.close();
  } finally {
    claim.release();
  }
}

/** Not loaded without `--fleet`. */
async function fleetOf(options: ServeOptions, log: Log): Promise<Pick<StartHostOptions, 'fleet'>> {
  if (options.fleet === undefined) return {};
  const { joinFleetOf } = await import('../fleet/join.ts');
  const folders = [options.workspace, ...options.also];
  return { fleet: await joinFleetOf({ file: options.fleet, folders, version: hostVersion(), log }) };
}

/** The reader of this output is the operator. */
function consoleOf({ url, host }: RunningHost): string | undefined {
  if (url === undefined) return undefined;
  const operator = { id: 'operator', name: 'operator', scopes: new Set(SCOPES) };
  return `${url}/#code=${host.console.mint('approver', operator, () => true).code}`;
}

/** On a raw terminal Ctrl-C is a key: ending the questions ends the host. */
async function askHere(options: ServeOptions, signal: AbortSignal, stop: () => void): Promise<void> {
  const { openDesk } = await import('./commands/approvals/desk.ts');
  const { watchQuestions } = await import('./commands/approvals/watch.ts');
  await watchQuestions(await openDesk(options), { input: process.stdin, signal }).catch(() => {});
  stop();
}

/** A host whose options change what a call means makes no calls for commands. */
function basisOf(options: ServeOptions, state: string): string | undefined {
  const { coordinator, keepDays, cassette, fleet } = options;
  const isPlain = [coordinator, keepDays, cassette, fleet].every((option) => option === undefined);
  return isPlain ? hostBasis(options, state) : undefined;
}

/** How `status` and the others find this host, when it is not the one of the current folder. */
function namedBy({ workspace, state }: ServeOptions): string {
  if (state !== undefined) return ` --state ${resolve(state)}`;
  return workspace === '.' ? '' : ` --workspace ${resolve(workspace)}`;
}

/** Spans and metrics go to the provider that was registered when the process started, for example by `node --import`. */
async function telemetryOf({ telemetry }: ServeOptions): Promise<Pick<RuntimeOptions, 'telemetry'>> {
  if (telemetry !== true) return {};
  const { createOpenTelemetry } = await import('@tool-runtime/sdk/telemetry');
  return { telemetry: createOpenTelemetry() };
}

/** The first signal lets calls end; a second one cancels them. */
async function untilStopped(running: RunningHost, asked: Promise<void>): Promise<void> {
  const signalled = Promise.withResolvers<void>();
  let isEnding = false;
  const onSignal = (): void => {
    if (isEnding) running.hurry();
    else signalled.resolve();
  };
  for (const name of SIGNALS) process.on(name, onSignal);
  await Promise.race([signalled.promise, asked]);
  isEnding = true;
  await running.stop();
  for (const name of SIGNALS) process.off(name, onSignal);
}

interface HostPlaces {
  readonly url: string | undefined;
  readonly socket: string | undefined;
  readonly tokenFile: string;
  /** Only when it may be shown. */
  readonly token: string | undefined;
  /** A link that works once; undefined when there is no HTTP to serve pages. */
  readonly console: string | undefined;
}

interface AnnounceOptions {
  readonly json: boolean;
  /** Options that name this host to other commands, such as `--state DIR`. */
  readonly named: string;
}

/** What a started host prints: where it listens, its token if that is wanted, and three commands to try. */
function announceHost(places: HostPlaces, { json, named }: AnnounceOptions): void {
  const { url, socket, tokenFile, token, console } = places;
  if (json) {
    printJson({ url, socket, token_file: tokenFile, token, console, pid: process.pid }, { compact: true });
    return;
  }
  if (url !== undefined) printLine(`listening  ${url}`);
  if (socket !== undefined) printLine(`socket     ${socket}`);
  printLine(`token      ${token ?? `in ${tokenFile}`}`);
  if (console !== undefined) printLine(`console    ${console}`);
  printLine('try');
  for (const line of commandsToTry(places, named)) printLine(`  ${line}`);
}

function commandsToTry({ url, socket, tokenFile }: HostPlaces, named: string): readonly string[] {
  const curl =
    socket === undefined
      ? `curl -s -H "Authorization: Bearer $(head -n1 ${tokenFile})" ${url}`
      : `curl -s --unix-socket ${socket} http://localhost`;
  return [`${curl}/v1/sessions -d '{}'`, `${curl}/v1/tools`, `npx tool-runtime status${named}`];
}

/** Keeps the journals of a long-running host small: what is older than wanted moves into archives, now and every hour. */
const EVERY_MS = 60 * 60 * 1000;
/** Fewer are not worth an archive of their own. */
const MIN_RECORDS = 1000;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Does nothing without `keepDays`. The returned function ends it. */
function keepRotating(host: Host, { keepDays }: { readonly keepDays: number | undefined }): () => void {
  if (keepDays === undefined) return () => {};
  const rotate = async (): Promise<void> => {
    for (const { runtime, path } of host.workspaces.all) {
      try {
        const report = await runtime.rotateJournal({ before: Date.now() - keepDays * DAY_MS, minRecords: MIN_RECORDS });
        if (report.records > 0) host.log.info('journal_rotated', { workspace: path, ...report });
      } catch (error) {
        host.log.error('journal_rotation_failed', { workspace: path, error });
      }
    }
  };
  void rotate();
  const timer = setInterval(() => void rotate(), EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}
