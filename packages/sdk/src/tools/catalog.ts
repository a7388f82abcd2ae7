/** Every built-in tool, one line each. */
export { fileRead } from './fs/file-read.ts';
export { fileWrite } from './fs/file-write.ts';
