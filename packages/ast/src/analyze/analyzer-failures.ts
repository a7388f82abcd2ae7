/** What can go wrong when an analyzer is run, as ToolErrors that say what to do instead. */
import { stripVTControlCharacters } from 'node:util';
import { isToolError, ToolError } from '@tool-runtime/protocol';
import { MAX_ANALYSIS_BYTES } from './read-json.ts';

const MAX_EXCERPT = 1_500;

export function unknownAnalyzer(name: string, known: readonly string[]): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Analyzer is not configured: ${name.slice(0, 80)}`, {
    path: 'provider',
    details: { reason: 'unknown_provider', known, next: 'use one of the known analyzers, or configure this one' },
  });
}

export function notInstalled(name: string, install: string, cause: unknown): ToolError {
  return new ToolError('E_SHELL', `Analyzer is not installed: ${name}`, {
    path: 'provider',
    details: { reason: 'not_installed', provider: name, next: install },
    cause,
  });
}

export function missingConfig(name: string, next: string): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Analyzer needs its rules: ${name}`, {
    path: 'config',
    details: { reason: 'missing_config', provider: name, next },
  });
}

export function leavesWorkspace(argument: string, path: string): ToolError {
  return new ToolError('E_POLICY', `Path leaves the workspace: ${path.slice(0, 200)}`, {
    path: argument,
    details: { gate: 'workspace', rule: 'sec.paths.sandbox', next: 'give paths relative to the workspace root' },
  });
}

export function tooManyPaths(most: number): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Too many paths for one run: more than ${most}`, {
    path: 'paths',
    details: { reason: 'too_many_paths', next: 'give the folders they are in' },
  });
}

export interface FailedRun {
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** What it printed, redacted; the beginning is kept. */
  readonly output: string;
  readonly cause?: unknown;
}

export function analyzerFailed(name: string, { exitCode, signal, output, cause }: FailedRun): ToolError {
  const how = exitCode === null ? `ended by ${signal ?? 'a signal'}` : `exit code ${exitCode}`;
  const printed = stripVTControlCharacters(output).trim().slice(0, MAX_EXCERPT);
  return new ToolError('E_SHELL', `Analyzer failed: ${name}, ${how}`, {
    details: {
      reason: 'analyzer_failed',
      provider: name,
      exit_code: exitCode,
      output: printed,
      next: 'fix what the analyzer complains about, such as its configuration',
    },
    ...(cause === undefined ? {} : { cause }),
  });
}

export function analyzerTimedOut(name: string, timeoutMs: number): ToolError {
  return new ToolError('E_TIMEOUT', `Analyzer ran too long: ${name}, more than ${timeoutMs} ms`, {
    details: { reason: 'timeout', provider: name, timeout_ms: timeoutMs, next: 'name fewer paths or allow more time' },
  });
}

export function outputTooLarge(name: string): ToolError {
  return new ToolError(
    'E_VALIDATION_FAIL',
    `Analyzer printed too much: ${name}, more than ${MAX_ANALYSIS_BYTES} bytes`,
    {
      details: { reason: 'too_large', provider: name, next: 'name fewer paths or fewer rules' },
    },
  );
}

/** The caller's own reason where it is one of ours. */
export function analyzerCancelled(name: string, signal: AbortSignal): ToolError {
  if (isToolError(signal.reason)) return signal.reason;
  return new ToolError('E_INTERNAL', `Analyzer was cancelled: ${name}`, {
    details: { kind: 'cancellation', retry: 'retryable', provider: name },
    cause: signal.reason,
  });
}
