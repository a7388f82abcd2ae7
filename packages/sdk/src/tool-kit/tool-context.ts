/** What a tool is given for one run. */
import type { RunNote, RunNotes } from './result-file.ts';
import { type OutputEntry, writeOutputFile } from './result-file.ts';
import { type Json, type JsonRecord, PROTOCOL_VERSION, type RunEnvironment } from './run-environment.ts';

export interface ToolContext {
  readonly runId: string;
  /** Absolute; also the working directory. */
  readonly runDir: string;
  /** What the caller gave, unchecked beyond being an object. */
  readonly inputs: JsonRecord;
  /** What the operator gave; empty when nothing was. */
  readonly config: JsonRecord;
  /** Words of the command line, without the path of the pack. */
  readonly args: readonly string[];
  readonly packPath: string | undefined;
  readonly packDigest: string | undefined;
  readonly projectRoot: string | undefined;
  /** Who asked, as given: JSON or plain text. */
  readonly identity: string | undefined;
  /** Whether the caller wants machine-readable output. */
  readonly json: boolean;
  /** Aborts on SIGTERM and SIGINT; the tool then has two seconds to come to an end. */
  readonly signal: AbortSignal;
  progress(current: number, total: number, message: string): void;
  status(message: string): void;
  /** Writes a file below `outputs/` and lists it. No link is followed, no file written twice. */
  writeOutput(path: string, content: string | Uint8Array, mediaType: string): OutputEntry;
  /** The run becomes `partial`, unless it fails. */
  warn(code: string, message: string, details?: Json): void;
  /** The run fails with exit code 1, but goes on. Throw a ToolFailure to end it. */
  error(code: string, message: string, details?: Json): void;
}

export interface ContextParts {
  readonly environment: RunEnvironment;
  readonly args: readonly string[];
  readonly signal: AbortSignal;
  readonly notes: RunNotes;
}

export function createContext({ environment, args, signal, notes }: ContextParts): ToolContext {
  const { profile, runId, runDir, inputs, config, packPath, packDigest, projectRoot, identity, json, quiet } =
    environment;
  const type = profile === 'epack' ? 'epack_progress' : 'tool_progress';
  function say(line: JsonRecord): void {
    if (!quiet) process.stdout.write(`${JSON.stringify({ type, protocol_version: PROTOCOL_VERSION, ...line })}\n`);
  }
  return {
    ...{ runId, runDir, inputs, config, args, packPath, packDigest, projectRoot, identity, json, signal },
    progress: (current, total, message) => say({ kind: 'progress', current, total, message }),
    status: (message) => say({ kind: 'status', message }),
    writeOutput(path, content, mediaType) {
      const entry = writeOutputFile(runDir, path, content, mediaType);
      notes.outputs.push(entry);
      return entry;
    },
    warn: (code, message, details) => void notes.warnings.push(noteOf(code, message, details)),
    error: (code, message, details) => void notes.errors.push(noteOf(code, message, details)),
  };
}

/** Details are copied at once: what JSON cannot hold fails where it was given, not when the result is written. */
export function noteOf(code: string, message: string, details: Json | undefined): RunNote {
  return { code, message, ...(details === undefined ? {} : { details: JSON.parse(JSON.stringify(details)) as Json }) };
}

/** How a tool ends a run that cannot succeed, with the exit code and the entry that `result.json` shall show. */
export class ToolFailure extends Error {
  readonly exitCode: number;
  readonly code: string;
  readonly details: Json | undefined;

  /** `exitCode`: 1 general, 2 configuration, 3 authentication, 4 network, 5 to 9 the tool's own meaning. */
  constructor(exitCode: number, code: string, message: string, details?: Json) {
    if (!Number.isInteger(exitCode) || exitCode < 1 || exitCode > 9)
      throw new RangeError(`A tool fails with an exit code from 1 to 9, the rest is the wrapper's: ${exitCode}`);
    super(message);
    this.name = 'ToolFailure';
    this.exitCode = exitCode;
    this.code = code;
    this.details = details;
  }
}
