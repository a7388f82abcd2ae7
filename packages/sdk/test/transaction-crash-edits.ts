/** Edits, a copy, a moved folder and a removal: what the process of transaction-crash-child.ts does before it is killed. */
export const CRASH_EDITS = [
  { tool: 'file_write', args: { path: 'edited.txt', content: 'new\n' } },
  { tool: 'file_write', args: { path: 'made/deep/new.txt', content: 'new\n', create_dirs: true } },
  { tool: 'fs_move', args: { src: 'folder', dst: 'moved' } },
  { tool: 'fs_delete', args: { path: 'removed.txt' } },
  { tool: 'fs_copy', args: { src: 'mode.txt', dst: 'copied.txt' } },
  { tool: 'file_write', args: { path: 'log.txt', content: 'line\n', append: true } },
].map((edit, at) => ({ ...edit, idempotencyKey: `edit-${at}` }));
