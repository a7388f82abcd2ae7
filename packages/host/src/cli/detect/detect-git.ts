/** The default branch, from the files git keeps: the remote's, else a usual name, else the only one there is. */
import type { DetectedProject, ProjectReader } from './detected-project.ts';

const USUAL = ['main', 'master', 'trunk', 'develop'];
const REMOTE_HEAD = /^ref: refs\/remotes\/origin\/(\S+)\s*$/;
const LOCAL_HEAD = /^ref: refs\/heads\/(\S+)\s*$/;
/** Anything else would need care as a glob. */
const PLAIN_NAME = /^[\w][\w./-]{0,100}$/;

export function detectGit(reader: ProjectReader): DetectedProject['git'] {
  if (!reader.exists('.git')) return undefined;
  const remote = REMOTE_HEAD.exec(reader.read('.git/refs/remotes/origin/HEAD') ?? '')?.[1];
  const branches = localBranches(reader);
  const current = LOCAL_HEAD.exec(reader.read('.git/HEAD') ?? '')?.[1];
  const only = branches.every((branch) => branch === current) ? current : undefined;
  const found = remote ?? USUAL.find((name) => branches.includes(name)) ?? only;
  return found === undefined || !PLAIN_NAME.test(found) ? {} : { defaultBranch: found };
}

function localBranches(reader: ProjectReader): readonly string[] {
  const packed = (reader.read('.git/packed-refs') ?? '').matchAll(/ refs\/heads\/(\S+)$/gm);
  return [...reader.list('.git/refs/heads'), ...[...packed].map((match) => match[1] ?? '')];
}
