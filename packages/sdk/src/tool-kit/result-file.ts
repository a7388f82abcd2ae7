/** `result.json`: built from what the run noted, written whole or not at all. */
import { hash, randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { formatTimestamp, type Json, PROTOCOL_VERSION, type RunEnvironment } from './run-environment.ts';

/** One entry of `errors` or `warnings`. */
export interface RunNote {
  readonly code: string;
  readonly message: string;
  readonly details?: Json;
}

/** Filled while the tool runs. */
export interface RunNotes {
  readonly outputs: OutputEntry[];
  readonly errors: RunNote[];
  readonly warnings: RunNote[];
}

export interface FinishedRun {
  readonly tool: { readonly name: string; readonly version: string };
  readonly environment: RunEnvironment;
  readonly notes: RunNotes;
  readonly exitCode: number;
  readonly durationMs: number;
}

const SCHEMA_VERSION = 1;
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

export function writeResult(run: FinishedRun): void {
  const { runDir } = run.environment;
  const temporary = join(runDir, `.result-${randomUUID()}.tmp`);
  const file = openSync(temporary, NEW_FILE, 0o644);
  try {
    try {
      writeFileSync(file, `${JSON.stringify(resultOf(run), null, 2)}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, join(runDir, 'result.json'));
  } catch (thrown) {
    rmSync(temporary, { force: true });
    throw thrown;
  }
}

function resultOf({ tool, environment, notes, exitCode, durationMs }: FinishedRun): object {
  const { wrapper, runId, packPath, packDigest, startedAt, inputs } = environment;
  // The clock may have been set back since the wrapper looked at it.
  const completedAt = Math.max(Date.now(), Date.parse(startedAt));
  return {
    schema_version: SCHEMA_VERSION,
    wrapper,
    tool: { name: tool.name, version: tool.version, protocol_version: PROTOCOL_VERSION },
    run_id: runId,
    ...(packPath === undefined ? {} : { pack_path: packPath }),
    ...(packDigest === undefined ? {} : { pack_digest: packDigest }),
    started_at: startedAt,
    completed_at: formatTimestamp(completedAt),
    duration_ms: durationMs,
    exit_code: exitCode,
    tool_exit_code: exitCode,
    status: statusOf(notes, exitCode),
    inputs,
    ...notes,
  };
}

function statusOf({ errors, warnings }: RunNotes, exitCode: number): string {
  if (errors.length > 0 || exitCode !== 0) return 'failure';
  return warnings.length > 0 ? 'partial' : 'success';
}

/** One entry of `outputs` in `result.json`. */
export interface OutputEntry {
  readonly path: string;
  readonly media_type: string;
  readonly digest: string;
  readonly bytes: number;
}

const FOLDER = 'outputs';

/**
 * Files a tool leaves behind, below `outputs/` of its run folder.
 *
 * Names are checked and no link is followed or replaced, so that input which decides about names cannot lead the tool
 * out of its folder. A file is written once.
 *
 * Makes `outputs/`, which also shows whether the run folder can be written at all.
 */
export function openOutputFolder(runDir: string): void {
  ensureFolder(join(runDir, FOLDER));
}

/** `path` is relative to `outputs/`. Throws TypeError for an invalid path, and what the file system says. */
export function writeOutputFile(
  runDir: string,
  path: string,
  content: string | Uint8Array,
  mediaType: string,
): OutputEntry {
  const parts = checkedParts(path);
  if (!/^[^/\s]+\/[^/\s]/.test(mediaType)) throw new TypeError(`Not a media type: ${mediaType}`);
  let folder = join(runDir, FOLDER);
  for (const part of parts.slice(0, -1)) {
    folder = join(folder, part);
    ensureFolder(folder);
  }
  const bytes = typeof content === 'string' ? Buffer.from(content, 'utf8') : content;
  const file = openSync(join(folder, parts.at(-1) ?? ''), NEW_FILE, 0o644);
  try {
    writeFileSync(file, bytes);
  } finally {
    closeSync(file);
  }
  return {
    path: [FOLDER, ...parts].join('/'),
    media_type: mediaType,
    digest: `sha256:${hash('sha256', bytes, 'hex')}`,
    bytes: bytes.byteLength,
  };
}

function checkedParts(path: string): string[] {
  const parts = path.split('/');
  const isPlain = parts.every((part) => part !== '' && part !== '.' && part !== '..');
  if (isPlain && !/[\\\u0000-\u001f\u007f]/.test(path) && !/^[A-Za-z]:/.test(path)) return parts;
  throw new TypeError(`Not a path below ${FOLDER}/: ${JSON.stringify(path)}`);
}

function ensureFolder(path: string): void {
  try {
    // Not `recursive`: where a file system answers "no such entry" forever, as /proc does, Node tries forever.
    mkdirSync(path, { mode: 0o700 });
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown;
  }
  if (!lstatSync(path).isDirectory()) throw new TypeError(`A link where a folder of outputs should be: ${path}`);
}
