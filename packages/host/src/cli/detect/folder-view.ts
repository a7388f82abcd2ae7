/** One folder of the workspace, read as if it were the root. */
import type { FolderView, ProjectReader } from './detected-project.ts';

export function folderView(reader: ProjectReader, folder: string): FolderView {
  const inside = (name: string) => [folder, name].filter((part) => part !== '').join('/');
  return {
    folder,
    read: (name) => reader.read(inside(name)),
    exists: (name) => reader.exists(inside(name)),
    list: (name = '') => reader.list(inside(name)),
  };
}
