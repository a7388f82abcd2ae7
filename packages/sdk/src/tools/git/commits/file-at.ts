/** One file as a commit holds it: its mode from the tree, its bytes from the store. Links are not followed. */
import { safeText } from '@tool-runtime/protocol/internal';
import { z } from 'zod';
import type { GitRepository } from '../../../contracts/git.ts';
import { gitFailure } from '../../../git/git-failure.ts';
import { cleanPath, literalPathspec } from '../../../git/pathspec.ts';
import { decodeText, detectEncoding } from '../../../text/encoding.ts';

const HEADER_BYTES = 200;
const NEWLINE = 0x0a;

export const fileAtSchema = z.strictObject({
  path: z.string(),
  mode: z.string().describe('100644 file, 100755 executable, 120000 symbolic link whose content is its target'),
  blob: z.string(),
  size: z.int().describe('Bytes of the whole file'),
  content: z.string(),
  encoding: z.enum(['utf-8', 'utf-16le', 'utf-16be', 'latin1', 'base64']).describe('base64 for bytes that are no text'),
});

export interface FileAt extends z.output<typeof fileAtSchema> {
  readonly truncated: boolean;
}

interface Question {
  readonly hash: string;
  readonly path: string;
  readonly maxBytes: number;
}

export async function fileAt(git: GitRepository, { hash, path, maxBytes }: Question): Promise<FileAt> {
  const plain = cleanPath(path);
  const [tree, content] = await Promise.all([
    git.run({ words: ['ls-tree', '-z', '--full-tree', hash, '--', literalPathspec(path)], access: 'read' }),
    git.run({
      words: ['cat-file', '--batch', '-z'],
      access: 'read',
      stdin: `${hash}:${plain}\0`,
      maxBytes: maxBytes + HEADER_BYTES,
      overflow: 'cut',
    }),
  ]);
  const entry = /^(\d+) (\w+) ([0-9a-f]+)\t/.exec(tree.stdout.toString('utf8'));
  if (entry === null || plain === '') throw noFile(path, plain === '' ? 'tree' : 'missing');
  const [, mode = '', type = '', blob = ''] = entry;
  if (type !== 'blob') throw noFile(path, type);
  const begin = content.stdout.indexOf(NEWLINE) + 1;
  const size = Number(content.stdout.toString('utf8', 0, begin).trim().split(' ')[2]);
  const bytes = content.stdout.subarray(begin, begin + Math.min(size, maxBytes));
  const truncated = size > maxBytes;
  return { path: plain, mode, blob, size, ...textOf(bytes, truncated), truncated };
}

function textOf(bytes: Buffer, isPrefix: boolean): Pick<FileAt, 'content' | 'encoding'> {
  const { encoding } = detectEncoding(bytes, { isPrefix });
  const text = encoding === 'binary' ? undefined : decodeText(bytes, encoding, { isPrefix });
  if (encoding === 'binary' || text === undefined) return { content: bytes.toString('base64'), encoding: 'base64' };
  return { content: text, encoding };
}

function noFile(path: string, type: string) {
  const why = { tree: 'it is a folder', commit: 'it is a submodule' }[type] ?? 'there is none';
  return gitFailure(`No such file at this revision, ${why}: ${safeText(path, 120)}`, {
    path: 'path',
    reason: type === 'missing' ? 'no_such_path' : 'not_a_file',
    next: 'find out with git_log and paths when the file existed; git_show without path lists what a commit changed',
  });
}
