/** Workspace-relative paths as text. */

export function folderOf(path: string): string {
  return path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '';
}

export function stemOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return name.includes('.') ? name.slice(0, name.indexOf('.')) : name;
}

/** Without `.` and `..`; undefined when it leads out of the workspace. */
export function joinPath(folder: string, relative: string): string | undefined {
  const names: string[] = [];
  for (const name of [...folder.split('/'), ...relative.split('/')]) {
    if (name === '' || name === '.') continue;
    if (name !== '..') names.push(name);
    else if (names.pop() === undefined) return undefined;
  }
  return names.join('/');
}

/** From a folder to a path; begins with `./` or `../`. */
export function relativePath(folder: string, path: string): string {
  const from = folder === '' ? [] : folder.split('/');
  const to = path.split('/');
  let same = 0;
  while (same < from.length && same < to.length - 1 && from[same] === to[same]) same++;
  const up = '../'.repeat(from.length - same);
  return (up === '' ? './' : up) + to.slice(same).join('/');
}
