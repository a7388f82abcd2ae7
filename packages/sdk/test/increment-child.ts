/**
 * Adds one to the number in a file, many times, while others do the same. Started by lost-update.deep.test.ts.
 *
 * `expected` and `append` go through file_write. `naive` is what one would write without a lock: it compares the
 * content right before the rename, and that is not enough.
 */
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isToolError } from '@tool-runtime/protocol';
import type { ToolContext } from '../src/contracts/tool.ts';
import { openRoot } from '../src/platform/descriptors/root.ts';
import { createWorkspace } from '../src/platform/files/workspace.ts';
import { fileRead } from '../src/tools/fs/file-read.ts';
import { fileWrite } from '../src/tools/fs/file-write.ts';

const [directory = '', way = '', backend = 'auto', rounds = '0'] = process.argv.slice(2);
const parts: Partial<ToolContext> = {
  workspace: createWorkspace(openRoot(directory, { backend: backend as 'auto' })),
  signal: new AbortController().signal,
};
const context = parts as ToolContext;
const write = (args: object) => fileWrite.run(fileWrite.args.parse({ path: 'counter', ...args }), context);

const ways: Readonly<Record<string, () => Promise<boolean>>> = {
  async expected() {
    const { content, sha256 } = await fileRead.run(fileRead.args.parse({ path: 'counter' }), context);
    try {
      await write({ content: String(Number(content) + 1), expected_sha256: sha256 });
      return true;
    } catch (thrown) {
      if (isToolError(thrown) && thrown.details['reason'] === 'precondition_failed') return false;
      throw thrown;
    }
  },
  async append() {
    await write({ content: '+', append: true });
    return true;
  },
  async naive() {
    const file = join(directory, 'counter');
    const before = await readFile(file, 'utf8');
    const temporary = `${file}.${process.pid}`;
    await writeFile(temporary, String(Number(before) + 1));
    if ((await readFile(file, 'utf8')) !== before) return false;
    await rename(temporary, file);
    return true;
  },
};

const once = ways[way];
if (once === undefined) throw new TypeError(`No such way: ${way}`);
// All begin when all are there.
process.stdout.write('ready\n');
await new Promise((resolve) => process.stdin.once('data', resolve));
process.stdin.destroy();
for (let done = 0; done < Number(rounds); ) if (await once()) done += 1;
