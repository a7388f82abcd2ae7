/**
 * Loaded into a server before it starts: each file it renames is synced before and its folder afterwards, so that what it
 * wrote has reached the disk when it answers. Everything else of the server stays as it is.
 */
import promises, { type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';

const { open, rename } = promises;

async function sync(path: string): Promise<void> {
  const handle: FileHandle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

promises.rename = async (from, to) => {
  await sync(String(from));
  await rename(from, to);
  await sync(dirname(String(to)));
};
