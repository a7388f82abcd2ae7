/** Runs a program in the sandbox, text in and text out, with everything it prints. */
import { ToolError } from '@tool-runtime/protocol';
import { type CommandRunner, readCommand } from '@tool-runtime/sdk';

export interface FilterRequest {
  /** A line, or words. */
  readonly command: string | readonly string[];
  readonly stdin: Uint8Array | null;
  readonly signal?: AbortSignal | undefined;
}

export interface FilterResult {
  readonly code: number | null;
  readonly stdout: Uint8Array;
  /** What is fit to show of both streams. */
  readonly shown: string;
}

const SHOWN_BYTES = 16 * 1024;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** Throws what the capability throws, E_SHELL for endless output, and the signal's reason. */
export async function runFilter(commands: CommandRunner, request: FilterRequest): Promise<FilterResult> {
  const { command, stdin, signal } = request;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const running = await commands.start({
    list: readCommand(typeof command === 'string' ? command : [...command]),
    cwd: '.',
    env: {},
    stdin,
    network: false,
    maxOutputBytes: SHOWN_BYTES,
    onOutput(stream, chunk) {
      bytes += chunk.length;
      if (stream === 'stdout' && bytes <= MAX_OUTPUT_BYTES) chunks.push(chunk.slice());
    },
    ...(signal === undefined ? {} : { signal }),
  });
  const { code, stdout, stderr } = await running.done;
  signal?.throwIfAborted();
  if (bytes > MAX_OUTPUT_BYTES) throw tooMuch(command);
  const shown = [stderr.text, stdout.text].filter((text) => text.trim() !== '').join('\n');
  return { code, stdout: Buffer.concat(chunks), shown };
}

function tooMuch(command: FilterRequest['command']): ToolError {
  const name = typeof command === 'string' ? command : command[0];
  return new ToolError('E_SHELL', `Program printed too much: ${name ?? ''}`, { details: { reason: 'too_large' } });
}
