/** Runs a host for the `serve` command, until a signal or a request to stop. */

import { resolve } from 'node:path';
import type { RuntimeOptions } from '@tool-runtime/sdk';
import { createRedactor } from '@tool-runtime/sdk/parts';
import { ensureTokenFile } from '../auth/token-file.ts';
import { createTokenBook } from '../auth/tokens.ts';
import { createLog } from '../log/log.ts';
import { claimState } from '../ops/host-file.ts';
import { hostVersion } from '../ops/host-version.ts';
import { keepRotating } from '../sessions/keep-rotating.ts';
import { type RunningHost, startHost } from '../start-host.ts';
import { announceHost } from './announce-host.ts';
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
    const { mainToken } = ensureTokenFile(tokenFile);
    const running = await startHost({
      ...hostOptions(options, state),
      tokens: createTokenBook({
        path: tokenFile,
        now: Date.now,
        onBadFile: (error) => log.error('token_file_unusable', { error }),
      }),
      log,
      serverVersion: hostVersion(),
      runtime: { ...runtimeOptions(options, coordinator, log), ...(await telemetryOf(options)) },
      onStopRequested: stopping.resolve,
    });
    const { url, socket } = running;
    claim.publish({
      ...(url === undefined ? {} : { http: url }),
      ...(socket === undefined ? {} : { socket }),
      tokenFile,
    });
    const token = options.showToken === true ? mainToken : undefined;
    announceHost({ url, socket, tokenFile, token }, { json: options.json === true, named: namedBy(options) });
    const stopRotating = keepRotating(running.host, { keepDays: options.keepDays });
    await untilStopped(running, stopping.promise);
    stopRotating();
    await coordinator?.close();
  } finally {
    claim.release();
  }
}

/** How `status` and the others find this host, when it is not the one of the current folder. */
function namedBy({ workspace, state }: ServeOptions): string {
  if (state !== undefined) return ` --state ${resolve(state)}`;
  return workspace === '.' ? '' : ` --workspace ${resolve(workspace)}`;
}

/** Spans and metrics go to the provider that whoever started the process registered, for example by `node --import`. */
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
