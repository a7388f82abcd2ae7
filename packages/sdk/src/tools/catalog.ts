/** Every built-in tool, one line each. */

export { artifactRead } from './artifact/artifact-read.ts';
export { filePatch } from './fs/file-patch.ts';
export { fileRead } from './fs/file-read.ts';
export { fileWrite } from './fs/file-write.ts';
export { fsCopy } from './fs/fs-copy.ts';
export { fsDelete } from './fs/fs-delete.ts';
export { fsList } from './fs/fs-list.ts';
export { fsMove } from './fs/fs-move.ts';
export { grep } from './fs/grep.ts';
export { curl } from './net/curl.ts';
export { jobInput } from './proc/job-input.ts';
export { jobList } from './proc/job-list.ts';
export { jobPoll } from './proc/job-poll.ts';
export { jobStop } from './proc/job-stop.ts';
export { procList } from './proc/proc-list.ts';
export { shellExec } from './proc/shell-exec.ts';
