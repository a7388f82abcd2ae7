/** One run as it should be, and what it leaves behind. */
import { type JsonObject, toToolError } from '@tool-runtime/protocol';
import { readRunFile } from '../../platform/runs/run-result-file.ts';
import { readFolderContent } from '../../platform/runs/tool-probe-scene.ts';
import { EXTERNAL_LIMITS, RESULT_FILE } from '../protocol/protocol-constants.ts';
import { parseResult, validateResult } from '../protocol/read-result.ts';
import { parseProgress } from '../run/progress-lines.ts';
import { checkResult } from './check-result.ts';
import { describeEnd, failed, firstLine, judged, passed, type ToolCheck, warned, withWords } from './checks.ts';
import type { Probe, ProbedRun } from './probe.ts';

export interface RunFindings {
  readonly checks: readonly ToolCheck[];
  readonly run: ProbedRun;
}

export async function checkRun(probe: Probe, name: string | undefined): Promise<RunFindings> {
  const run = await probe.run({ about: 'a good run' });
  const checks = [judgeEnd(run), ...(await judgeResult(probe, run, name)), judgeFiles(run), judgeStdout(run)];
  return { run, checks };
}

function judgeEnd(run: ProbedRun): ToolCheck {
  const end = describeEnd(run);
  if (run.isOverdue || run.exitCode === null)
    return failed('run.ends', { message: end, next: 'exit with a code from 0 to 9' });
  if (run.exitCode === 0) return passed('run.ends', end);
  const next = 'if it needs inputs, a configuration or a pack, give them to the check';
  return warned('run.ends', { message: withWords(run), next });
}

async function judgeResult(probe: Probe, run: ProbedRun, name: string | undefined): Promise<ToolCheck[]> {
  const file = readRunFile(run.folder, RESULT_FILE, EXTERNAL_LIMITS.resultBytes);
  if (file === 'missing') {
    const next = 'write it; without it the wrapper writes one and the run is at best partial';
    return [warned('run.result', { message: 'no result.json', next })];
  }
  const next = 'write a regular file with every required field, as docs/external-tools.md lists them';
  if (typeof file === 'string') return [failed('run.result', { message: `result.json is ${file}`, next })];
  try {
    const claimed = parseResult(file) as JsonObject;
    const result = validateResult(claimed);
    return [passed('run.result', `status ${result.status}`), ...(await checkResult({ probe, run, result, name }))];
  } catch (thrown) {
    return [failed('run.result', { message: toToolError(thrown).message, next })];
  }
}

function judgeFiles({ folder }: ProbedRun): ToolCheck {
  const paths = [...readFolderContent(folder.path)]
    .filter(([path, kind]) => !isExpected(path, kind))
    .map(([path]) => path);
  const fault = {
    message: `also there: ${paths.slice(0, 3).join(', ')}`,
    next: 'write below outputs/, and scratch files below TMPDIR',
  };
  return judged('run.files', paths.length === 0 ? undefined : fault, 'nothing else');
}

function isExpected(path: string, kind: string): boolean {
  if (path === RESULT_FILE) return true;
  return path === 'outputs' ? kind === 'folder' : path.startsWith('outputs/');
}

function judgeStdout({ stdout }: ProbedRun): ToolCheck {
  const lines = stdout.bytes.toString('utf8').split('\n');
  const noise = lines.find((line) => line !== '' && parseProgress(line) === undefined);
  if (noise === undefined) return passed('run.stdout', stdout.total === 0 ? 'stdout is empty' : 'progress lines');
  const next = 'put output into files; stdout is for progress, one JSON object per line';
  return warned('run.stdout', { message: `not a progress line: ${firstLine(Buffer.from(noise))}`, next });
}
