/** What a program that embeds a host may leave out: a token made for this run, and warnings on stderr. */
import { createRedactor } from '@tool-runtime/sdk/parts';
import { createToken } from './auth/token-digest.ts';
import { createTokenBook, type TokenBook } from './auth/tokens.ts';
import { createLog, type Log } from './log/log.ts';
import { hostVersion } from './ops/host-version.ts';

export interface EmbeddingParts {
  readonly tokens: TokenBook;
  readonly log: Log;
  readonly serverVersion: string;
}

export interface FilledParts extends EmbeddingParts {
  /** The one token there is, with every scope; undefined when the program brought its own. */
  readonly token: string | undefined;
}

export function fillParts({ tokens, log, serverVersion }: Partial<EmbeddingParts>): FilledParts {
  const token = tokens === undefined ? createToken() : undefined;
  return {
    token,
    tokens: tokens ?? createTokenBook({ lines: token === undefined ? [] : [token], now: Date.now }),
    log: log ?? stderrLog(),
    serverVersion: serverVersion ?? hostVersion(),
  };
}

function stderrLog(): Log {
  return createLog({
    stream: process.stderr,
    level: 'warn',
    format: 'text',
    redact: createRedactor().redactText,
  });
}
