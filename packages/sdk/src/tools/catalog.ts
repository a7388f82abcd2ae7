/** Every built-in tool, one line each. */
export { filePatch } from './fs/file-patch.ts';
export { fileRead } from './fs/file-read.ts';
export { fileWrite } from './fs/file-write.ts';
export { fsCopy } from './fs/fs-copy.ts';
export { fsDelete } from './fs/fs-delete.ts';
export { fsMove } from './fs/fs-move.ts';
export { curl } from './net/curl.ts';
export { procList } from './proc/proc-list.ts';
