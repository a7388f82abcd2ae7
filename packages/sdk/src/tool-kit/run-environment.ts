/**
 * What the wrapper tells a run through its environment, in both profiles: `TOOL_…` names and `EPACK_…` names.
 *
 * Everything is checked before the tool's own code runs; a fault is an `EnvironmentFault` that names the variable and
 * never its value.
 */
import { readFileSync, statSync } from 'node:fs';
import { isAbsolute } from 'node:path';

export interface RunEnvironment {
  readonly profile: 'neutral' | 'epack';
  readonly runId: string;
  /** Absolute, an existing folder. */
  readonly runDir: string;
  readonly startedAt: string;
  readonly wrapper: { readonly name: string; readonly version: string };
  readonly projectRoot: string | undefined;
  readonly packPath: string | undefined;
  readonly packDigest: string | undefined;
  readonly config: JsonRecord;
  readonly inputs: JsonRecord;
  readonly identity: string | undefined;
  readonly json: boolean;
  readonly quiet: boolean;
}

export class EnvironmentFault extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'EnvironmentFault';
  }
}

export const PROTOCOL_VERSION = 1;

const PROFILES = {
  neutral: { prefix: 'TOOL_', name: 'TOOL_NAME', config: 'TOOL_CONFIG', wrapper: 'tool-runtime' },
  epack: { prefix: 'EPACK_', name: 'EPACK_TOOL_NAME', config: 'EPACK_TOOL_CONFIG', wrapper: 'epack' },
} as const;

/** More than any wrapper passes on. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;

type Variables = Readonly<Record<string, string | undefined>>;

/** Throws EnvironmentFault at the first thing that is missing or broken. */
export function readRunEnvironment(toolName: string, variables: Variables): RunEnvironment {
  const profile =
    variables['TOOL_RUN_ID'] === undefined && variables['EPACK_RUN_ID'] !== undefined ? 'epack' : 'neutral';
  const { prefix, name, config, wrapper } = PROFILES[profile];
  const given = (rest: string): string | undefined => variables[`${prefix}${rest}`] || undefined;
  const needed = (variable: string): string => variables[variable] || fault(`Variable is not set: ${variable}`);

  if (needed(`${prefix}PROTOCOL_VERSION`) !== String(PROTOCOL_VERSION))
    throw new EnvironmentFault(
      `Protocol version is not supported: ${prefix}PROTOCOL_VERSION must be ${PROTOCOL_VERSION}`,
    );
  if (needed(name) !== toolName) throw new EnvironmentFault(`Started under another name than ${toolName}: ${name}`);
  return {
    profile,
    runId: needed(`${prefix}RUN_ID`),
    runDir: folder(needed(`${prefix}RUN_DIR`), `${prefix}RUN_DIR`),
    startedAt: timestamp(needed(`${prefix}STARTED_AT`), `${prefix}STARTED_AT`),
    wrapper: { name: wrapper, version: given('WRAPPER_VERSION') ?? 'unknown' },
    projectRoot: absolute(given('PROJECT_ROOT'), `${prefix}PROJECT_ROOT`),
    packPath: absolute(given('PACK_PATH'), `${prefix}PACK_PATH`),
    packDigest: digest(given('PACK_DIGEST'), `${prefix}PACK_DIGEST`),
    config: readRecord(variables[config], config),
    inputs: readInputs(given('INPUTS'), given('INPUTS_FILE'), prefix),
    identity: given('IDENTITY'),
    json: isSet(given('JSON')),
    quiet: isSet(given('QUIET')),
  };
}

function fault(message: string): never {
  throw new EnvironmentFault(message);
}

function absolute(path: string | undefined, variable: string): string | undefined {
  if (path === undefined || isAbsolute(path)) return path;
  return fault(`Path is not absolute: ${variable}`);
}

function folder(path: string, variable: string): string {
  if (!isAbsolute(path)) return fault(`Path is not absolute: ${variable}`);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return fault(`Not a folder: ${variable}`);
  return path;
}

/** A date that does not exist, such as 30 February, does not come back as it was. */
function timestamp(text: string, variable: string): string {
  const time = TIMESTAMP.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time) || formatTimestamp(time) !== text)
    return fault(`Not a time such as 2026-01-31T12:00:00Z: ${variable}`);
  return text;
}

function digest(text: string | undefined, variable: string): string | undefined {
  if (text === undefined || DIGEST.test(text)) return text;
  return fault(`Not a digest of the form sha256:…: ${variable}`);
}

function readRecord(path: string | undefined, variable: string): JsonRecord {
  if (path === undefined || path === '') return {};
  const size = statSync(path, { throwIfNoEntry: false });
  if (size?.isFile() !== true) return fault(`Not a file: ${variable}`);
  if (size.size > MAX_FILE_BYTES) return fault(`File is larger than ${MAX_FILE_BYTES} bytes: ${variable}`);
  return parseRecord(readFileSync(path, 'utf8')) ?? fault(`File holds no JSON object: ${variable}`);
}

/** What is too long for a variable comes in a file. */
function readInputs(text: string | undefined, path: string | undefined, prefix: string): JsonRecord {
  if (text === undefined) return readRecord(path, `${prefix}INPUTS_FILE`);
  return parseRecord(text) ?? fault(`Not a JSON object: ${prefix}INPUTS`);
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '0' && value !== 'false';
}

/** Exactly 20 characters, UTC, cut to the second. */
export function formatTimestamp(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}

/** Values of JSON as tools see them. Of its own, because the kit imports nothing. */
export type Json = string | number | boolean | null | readonly Json[] | JsonRecord;

export interface JsonRecord {
  readonly [key: string]: Json;
}

/** Undefined unless the text is one JSON object. */
function parseRecord(text: string): JsonRecord | undefined {
  try {
    const value = JSON.parse(text) as Json;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonRecord) : undefined;
  } catch {
    // The caller says what the text was meant to be.
    return undefined;
  }
}
