/** Shows an answered run: the tool's own output first, then in one line what became of it. */
import type { JsonObject, ToolResponse } from '@tool-runtime/protocol';
import { plainText } from '../../../terminal/plain-text.ts';
import { printJson, showError, showWarning } from '../../../terminal/terminal.ts';
import { writeText } from '../../write-pieces.ts';
import { describeOutputs } from './describe-outputs.ts';
import { exitCodeOf } from './exit-code.ts';

const NOT_FOUND = 10;
const LIST_IT = 'list it under external_tools of a registry that is trusted';

export interface RunReport {
  readonly response: ToolResponse;
  /** Whether the registry has such a tool. */
  readonly isListed: boolean;
  readonly runId: string | undefined;
  readonly json: boolean;
}

/** Answers the exit code. */
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
