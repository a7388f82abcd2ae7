/** How a tool behaves as a process: without input, when asked to end, and over all starts together. */
import {
  changedPaths,
  type FolderContent,
  filesWithText,
  readFolderContent,
} from '../../platform/runs/tool-probe-scene.ts';
import { type CheckId, describeEnd, failed, judged, passed, type ToolCheck } from './checks.ts';
import type { Probe, ProbedRun } from './probe.ts';

export async function checkStdin(probe: Probe, good: ProbedRun): Promise<ToolCheck> {
  const run = await probe.run({ about: 'a run without standard input', stdin: 'closed' });
  const isSame = !run.isOverdue && run.exitCode === good.exitCode && run.endedBy === good.endedBy;
  const fault = { message: describeEnd(run), next: 'do not read standard input' };
  return judged('stdin.closed', isSame ? undefined : fault, describeEnd(run));
}

const EARLIEST_MS = 20;
const LATEST_MS = 1000;

/** Asked in the middle of a run, as far as the good one tells where that is. */
export async function checkTermination(probe: Probe, good: ProbedRun): Promise<ToolCheck> {
  const terminateAfterMs = Math.min(Math.max(good.durationMs / 2, EARLIEST_MS), LATEST_MS);
  const run = await probe.run({ about: 'a run that is asked to end', terminateAfterMs });
  if (run.isOverdue) {
    const message = `still ran ${probe.limits.terminateMs} ms after SIGTERM`;
    return failed('signal.term', { message, next: 'end on SIGTERM; what does not is killed and loses its result' });
  }
  // By the signal, by itself on being asked, or a moment before: which one is chance.
  return passed('signal.term', 'ended in time');
}

export interface Surroundings {
  readonly project: FolderContent;
  readonly home: FolderContent;
}

export function readSurroundings({ scene }: Probe): Surroundings {
  return { project: readFolderContent(scene.project), home: readFolderContent(scene.home) };
}

/** What only all starts together show. */
export function checkTraces(probe: Probe, before: Surroundings): ToolCheck[] {
  const after = readSurroundings(probe);
  return [
    judgeLeft(probe),
    judgeExitCodes(probe),
    judgeChanges('writes.project', before.project, after.project),
    judgeChanges('writes.home', before.home, after.home),
    judgeSecrets(probe),
  ];
}

function judgeLeft({ ends }: Probe): ToolCheck {
  const left = ends.find(({ leftRunning }) => leftRunning.length > 0);
  const next = 'wait for every process that was started, or end it';
  const fault = left && { message: `${left.about}: ${left.leftRunning.join(', ')} still ran`, next };
  return judged('process.left', fault, `none after ${ends.length} starts`);
}

function judgeExitCodes({ ends }: Probe): ToolCheck {
  const outside = ends.find(({ exitCode }) => exitCode !== null && exitCode > 9);
  const next = "10 to 19 are the wrapper's; everything above 9 is reported as 1";
  const fault = outside && { message: `${outside.about}: exit code ${outside.exitCode}`, next };
  const seen = [...new Set(ends.map(({ exitCode }) => exitCode))].filter((code) => code !== null).sort();
  return judged('exit_codes.range', fault, `seen: ${seen.join(', ')}`);
}

function judgeChanges(id: CheckId, before: FolderContent, after: FolderContent): ToolCheck {
  const paths = changedPaths(before, after);
  const fault = { message: `changed: ${paths.slice(0, 3).join(', ')}`, next: 'write below outputs/ of the run folder' };
  return judged(id, paths.length === 0 ? undefined : fault, 'unchanged');
}

function judgeSecrets({ ends, folders, secret }: Probe): ToolCheck {
  const next = 'print and keep only the variables that are needed';
  const shown = ends.find(({ stdout, stderr }) => stdout.bytes.includes(secret) || stderr.bytes.includes(secret));
  if (shown !== undefined)
    return failed('secrets.shown', { message: `${shown.about}: printed a variable that is not its own`, next });
  const [file] = folders.flatMap(({ path }) => filesWithText(path, secret));
  const fault = file === undefined ? undefined : { message: `a variable that is not its own stands in ${file}`, next };
  return judged('secrets.shown', fault, 'neither printed nor kept');
}
