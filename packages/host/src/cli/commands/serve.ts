/** tool-runtime serve: the host as a daemon, until it is stopped or gets a signal. */
import type { Command } from 'commander';
import { badUsage } from '../../terminal/bad-usage.ts';
import { defineCommand, type SharedOptions, withCassetteOptions, withRuntimeOptions } from '../command.ts';
import { wholeNumber } from '../option-values.ts';

export interface ServeOptions extends SharedOptions {
  readonly http: string;
  readonly socket?: string;
  readonly also: readonly string[];
  readonly tokenFile?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly allowPlaintext?: boolean;
  readonly allowHost: readonly string[];
  readonly allowOrigin: readonly string[];
  readonly maxSessions?: number;
  readonly maxInFlight?: number;
  readonly drainTimeout: number;
  readonly keepDays?: number;
  readonly coordinator?: string;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
  readonly logFormat: 'json' | 'text';
  readonly showToken?: boolean;
  readonly ask?: boolean;
  readonly telemetry?: boolean;
  readonly fleet?: string;
}

export const serve = defineCommand({
  name: 'serve',
  summary: 'Serve HTTP, WebSocket and a Unix socket; by default only on loopback and with a token',
  configure(command, done) {
    for (const add of [addAddresses, addExposure, addLimits, addOperations]) add(command);
    withCassetteOptions(withRuntimeOptions(command)).action(async (options: ServeOptions) => {
      if (options.ask === true && !process.stdin.isTTY) {
        throw badUsage('--ask needs a terminal', 'leave it out, and use tool-runtime approvals elsewhere');
      }
      const { runHost } = await import('../run-host.ts');
      await runHost(options);
      done(0);
    });
  },
});

function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

function addAddresses(command: Command): void {
  command
    .option(
      '--http <host:port>',
      'address for HTTP and WebSocket; port 0 takes a free one; none for no HTTP',
      '127.0.0.1:7411',
    )
    .option('--socket <path>', 'Unix socket (default: host.sock in the state folder; none for none)')
    .option('--also <dir>', 'another folder sessions may work in; may be repeated', collect, []);
}

function addExposure(command: Command): void {
  command
    .option('--token-file <file>', 'tokens, one per line (default: host.token in the state folder, created if missing)')
    .option('--tls-cert <file>', 'certificate (PEM)')
    .option('--tls-key <file>', 'its key (PEM)')
    .option('--allow-plaintext', 'listen beyond this machine without TLS, for example behind a proxy that adds it')
    .option(
      '--allow-host <name>',
      'another name clients may use for this host, in addition to loopback; may be repeated',
      collect,
      [],
    )
    .option('--allow-origin <origin>', 'a web page that may use this host; may be repeated', collect, []);
}

function addLimits(command: Command): void {
  command
    .option('--max-sessions <n>', 'sessions open at once', wholeNumber('--max-sessions', 1))
    .option('--max-in-flight <n>', 'calls running at once', wholeNumber('--max-in-flight', 1))
    .option(
      '--drain-timeout <seconds>',
      'how long running calls may take to end at a stop',
      wholeNumber('--drain-timeout', 0),
      30,
    );
}

function addOperations(command: Command): void {
  command
    .option('--ask', 'ask approval questions on this terminal, as `approvals watch` does')
    .option(
      '--keep-days <n>',
      'move journal records older than this into archives, once an hour',
      wholeNumber('--keep-days', 1),
    )
    .option(
      '--coordinator <url>',
      'ask the coordinator at this address before calls; its token is in TOOL_RUNTIME_COORDINATOR_TOKEN',
    )
    .option('--fleet <file>', 'join the fleet this file describes; needs the package @tool-runtime/fleet')
    .option('--telemetry', 'OpenTelemetry spans and metrics, to the provider registered in this process')
    .option('--show-token', 'also print the token')
    .addOption(command.createOption('--log-level <level>').choices(['debug', 'info', 'warn', 'error']).default('info'))
    .addOption(command.createOption('--log-format <format>').choices(['json', 'text']).default('text'));
}
