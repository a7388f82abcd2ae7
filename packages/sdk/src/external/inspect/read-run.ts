/** A run as it lies in its folder: its result, or why there is none to believe. */
import { relative } from 'node:path';
import { isToolError, type JsonObject } from '@tool-runtime/protocol';
import type { RunFile, RunResult } from '../../contracts/external.ts';
import type { RunLocation } from '../../platform/runs/find-runs.ts';
import { openRunFolder, type RunFolder } from '../../platform/runs/run-folder.ts';
import { readRunFile } from '../../platform/runs/run-result-file.ts';
import { EXTERNAL_LIMITS, RESULT_FILE } from '../protocol/protocol-constants.ts';
import { parseResult, validateResult } from '../protocol/read-result.ts';

export type RunReading =
  | { readonly state: 'finished'; readonly result: RunResult & JsonObject; readonly bytes: Uint8Array }
  /** Without a result: it is running, or whoever ran it died. */
  | { readonly state: 'unfinished' }
  | { readonly state: 'damaged'; readonly problem: string };

/** Relative to the state folder. */
export function runDirectory(state: string, { base, withPack, tool, runId }: RunLocation): string {
  return relative(state, `${base}/${withPack ? 'tools' : 'runs'}/${tool}/${runId}`);
}

export function readRun(location: RunLocation): RunReading {
  const answer = withRun(location, (run) => readResult(run, location));
  return typeof answer === 'string' ? { state: 'damaged', problem: answer } : answer;
}

/** Answers what `use` does, or in words why the folder cannot be opened. The folder is closed afterwards. */
export function withRun<Answer>(location: RunLocation, use: (run: RunFolder) => Answer): Answer | string {
  if (!location.isFolder) return 'run folder is a link or no folder';
  let run: RunFolder | undefined;
  try {
    run = openRunFolder(location);
  } catch (thrown) {
    if (!isToolError(thrown)) throw thrown;
    return thrown.message;
  }
  if (run === undefined) return 'run folder is gone';
  const { close } = run;
  return closedAfter(() => use(run), close);
}

function closedAfter<Answer>(act: () => Answer, close: () => void): Answer {
  let answer: Answer;
  try {
    answer = act();
  } catch (thrown) {
    close();
    throw thrown;
  }
  if (answer instanceof Promise) return answer.finally(close) as Answer;
  close();
  return answer;
}

/** It must be about the run and the tool its folder is named for. */
export function readResult(run: RunFolder, { tool, runId }: RunLocation): RunReading {
  const file = readRunFile(run, RESULT_FILE, EXTERNAL_LIMITS.resultBytes);
  if (file === 'missing') return { state: 'unfinished' };
  if (typeof file === 'string') return damaged(FILE_PROBLEMS[file]);
  try {
    const result = validateResult(parseResult(file));
    if (result.run_id !== runId) return damaged('result.json is about another run');
    if (result.tool.name !== tool) return damaged('result.json is about another tool');
    return { state: 'finished', result, bytes: file };
  } catch (thrown) {
    if (!isToolError(thrown)) throw thrown;
    return damaged(`result.json: ${thrown.message}`);
  }
}

const FILE_PROBLEMS: Readonly<Record<Extract<RunFile, string>, string>> = {
  missing: 'result.json is missing',
  too_large: 'result.json is too large',
  unreadable: 'result.json is a link, has a second name or is no readable file',
};

function damaged(problem: string): RunReading {
  return { state: 'damaged', problem };
}
