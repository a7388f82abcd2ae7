/** Shows an answered run: the tool's own output first, then the outcome in one line. */

import { StringDecoder } from 'node:string_decoder';
import type { WriteStream } from 'node:tty';
import type { JsonObject, ToolResponse } from '@tool-runtime/protocol';
import { safeLines } from '@tool-runtime/protocol/internal';
import { plainText, printJson, showError, showWarning } from '../terminal/terminal.ts';

const NOT_FOUND = 10;
const LIST_IT = 'list it under external_tools of a registry that is trusted';

export interface RunReport {
  readonly response: ToolResponse;
  /** Whether the registry has such a tool. */
  readonly isListed: boolean;
  readonly runId: string | undefined;
  readonly json: boolean;
}

const ENDS = ['drain', 'close', 'error'] as const;

interface PieceWriter {
  /** Waits for a reader that is slower. */
  write(piece: Uint8Array): Promise<void>;
  end(): Promise<void>;
}

/** Returns the exit code. */
export function reportRun({ response, isListed, runId, json }: RunReport): number {
  const { ok, data, errors, warnings } = response;
  const [error] = errors;
  const about = ((ok ? data : error?.details) ?? {}) as JsonObject;
  const nextStep = (isListed ? textAt(about, 'next') : LIST_IT) || undefined;
  if (json) printJson(response, { compact: true });
  else {
    writeText(process.stdout, textAt(about, 'stdout'));
    writeText(process.stderr, textAt(about, 'stderr'));
    for (const { message } of warnings) showWarning(message);
    if (error !== undefined) showError(`${error.code} ${error.message}`, nextStep);
  }
  const exitCode = isListed ? exitCodeOf(response) : NOT_FOUND;
  process.stderr.write(`${plainText(summarize(about, { ok, runId, exitCode }))}\n`);
  return exitCode;
}

interface Ending {
  readonly ok: boolean;
  readonly runId: string | undefined;
  readonly exitCode: number;
}

function summarize(about: JsonObject, { ok, runId, exitCode }: Ending): string {
  const status = textAt(about, 'status') || (ok ? 'success' : 'failure');
  const outputs = Array.isArray(about['outputs']) ? (about['outputs'] as unknown as { readonly path: string }[]) : [];
  return [`run ${runId ?? 'without a record'}`, status, `exit ${exitCode}`, describeOutputs(outputs)].join('  ');
}

function textAt(about: JsonObject, name: string): string {
  const value = about[name];
  return typeof value === 'string' ? value : '';
}

/** The tool could not be run, for a reason without its own code. */
const RUN_FAILED = 14;
const HIGHEST = 17;
const FAILED = 1;

/**
 * The exit code of a run as the protocol defines it: 0–9 if the tool ran, 10–17 if it did not.
 *
 * A failed run never ends with 0, even if the tool did.
 */
export function exitCodeOf({ ok, data, errors }: Pick<ToolResponse, 'ok' | 'data' | 'errors'>): number {
  const [error] = errors;
  const said = ok ? (data as { readonly exit_code?: unknown } | null)?.exit_code : error?.details?.['exit_code'];
  if (typeof said === 'number' && Number.isInteger(said) && said >= 0 && said <= HIGHEST) {
    return said === 0 && !ok ? FAILED : said;
  }
  // It ran, and was stopped so late that nothing more is known of it.
  return error?.code === 'E_TIMEOUT' ? FAILED : RUN_FAILED;
}

const SHOWN = 3;

/** The outputs of a run, in a few words. */
export function describeOutputs(outputs: readonly { readonly path: string; readonly bytes?: number }[]): string {
  if (outputs.length === 0) return 'no outputs';
  const shown = outputs.slice(0, SHOWN).map(({ path, bytes = 0 }) => `${plainText(path)} (${bytes} bytes)`);
  const more = outputs.length > SHOWN ? [`${outputs.length - SHOWN} more`] : [];
  return [...shown, ...more].join(', ');
}

/** Foreign bytes on our own stream: unchanged for programs, escaped for a terminal. */
export function createPieceWriter(stream: WriteStream): PieceWriter {
  const decoder = new StringDecoder('utf8');
  const send = async (piece: string | Uint8Array): Promise<void> => {
    if (piece.length > 0 && !stream.write(piece) && !stream.destroyed) await ready(stream);
  };
  return {
    write: (piece) => send(stream.isTTY ? safeLines(decoder.write(Buffer.from(piece))) : piece),
    end: () => send(stream.isTTY ? safeLines(decoder.end()) : ''),
  };
}

/** A reader that closes the stream, such as `head`, is no longer awaited. */
function ready(stream: WriteStream): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      for (const name of ENDS) stream.off(name, done);
      resolve();
    };
    for (const name of ENDS) stream.on(name, done);
  });
}

/** Text that is complete. */
export function writeText(stream: WriteStream, text: string): void {
  stream.write(stream.isTTY ? safeLines(text) : text);
}
