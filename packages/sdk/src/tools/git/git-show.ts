/** git_show: a commit with its patch, or one file as it was at a revision. */
import { safeText } from '@tool-runtime/protocol/internal';
import { z } from 'zod';
import type { GitRepository } from '../../contracts/git.ts';
import { defineTool } from '../../contracts/tool.ts';
import { callText, type ToolText } from '../../contracts/tool-text.ts';
import { gitFailure } from '../../git/git-failure.ts';
import { COMMIT_WORDS, splitCommit } from '../../git/parse-history.ts';
import { cleanPath, literalPathspec } from '../../git/pathspec.ts';
import { resolveRevision } from '../../git/resolve-revisions.ts';
import { counted, patchPart, shortHash, shownName } from '../../present/rows.ts';
import { decodeText, detectEncoding } from '../../text/encoding.ts';
import { READ_GIT } from './git-annotations.ts';
import { commitShape, revision } from './git-arguments.ts';
import {
  contextLines,
  DIFF_WORDS,
  LIST_BYTES,
  listedFiles,
  MAX_FILES,
  maxBytes,
  patchFile,
  patchText,
  readDiff,
} from './patch-text.ts';

const HEADER_BYTES = 200;
const NEWLINE = 0x0a;

const fileAtSchema = z.strictObject({
  path: z.string(),
  mode: z.string().describe('100644 file, 100755 executable, 120000 symbolic link whose content is its target'),
  blob: z.string(),
  size: z.int().describe('Bytes of the whole file'),
  content: z.string(),
  encoding: z.enum(['utf-8', 'utf-16le', 'utf-16be', 'latin1', 'base64']).describe('base64 for bytes that are no text'),
});

interface FileAt extends z.output<typeof fileAtSchema> {
  readonly truncated: boolean;
}

interface Question {
  readonly hash: string;
  readonly path: string;
  readonly maxBytes: number;
}

/** One file as a commit holds it: its mode from the tree, its bytes from the store. Links are not followed. */
async function fileAt(git: GitRepository, { hash, path, maxBytes }: Question): Promise<FileAt> {
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

const args = z.strictObject({
  ref: revision.default('HEAD'),
  path: z.string().min(1).optional().describe('File whose content at the revision is wanted, instead of the patch'),
  context_lines: contextLines,
  max_bytes: maxBytes.describe('Bytes of the patch or file at most; what is longer comes back as its beginning'),
});

const data = z.strictObject({
  hash: z.string().describe('The commit the revision names'),
  commit: z
    .strictObject({
      ...commitShape,
      patch: z.string().describe('Against the first parent; against nothing for a commit without parents'),
      files: z.array(patchFile).describe(`At most ${MAX_FILES}`),
      total_files: z.int(),
      lossy: z.literal(true).optional().describe('Bytes of the patch that are not UTF-8 were replaced'),
    })
    .optional()
    .describe('Without path'),
  file: fileAtSchema.optional().describe('With path'),
  truncated: z.boolean().describe('Patch or file is longer than max_bytes'),
});

type Data = z.output<typeof data>;

export const gitShow = defineTool({
  name: 'git_show',
  category: 'git',
  title: 'Git show',
  summary: 'Show a commit with its patch, or a file at a revision',
  policyNotes: 'Read-only; reads history, not the work tree',
  args,
  data,
  annotations: {
    ...READ_GIT,
    arg_schema: {
      path_params: ['path'],
      set_params: ['path'],
      arg_aliases: { rev: 'ref', revision: 'ref', file: 'path' },
    },
  },
  effect: 'read',
  risk: 'low',
  idempotent: true,
  timeoutMs: 30_000,
  measure: ({ commit, file }) => (commit?.patch ?? file?.content ?? '').length,
  hasLargeAnswers: true,
  present: presentShown,
  async run({ ref, path, context_lines, max_bytes }, { git }) {
    const hash = await resolveRevision(git, ref, 'ref');
    if (path === undefined) return showCommit(git, hash, { contextLines: context_lines, maxBytes: max_bytes });
    const { truncated, ...file } = await fileAt(git, { hash, path, maxBytes: max_bytes });
    return { hash, file, truncated };
  },
});

interface Limits {
  readonly contextLines: number;
  readonly maxBytes: number;
}

async function showCommit(git: GitRepository, hash: string, limits: Limits): Promise<Data> {
  const { stdout, isCut = false } = await git.run({
    words: [
      'show',
      ...COMMIT_WORDS,
      ...DIFF_WORDS,
      '--patch',
      `--unified=${limits.contextLines}`,
      '--diff-merges=first-parent',
      '--root',
      hash,
      '--',
    ],
    access: 'read',
    maxBytes: limits.maxBytes + LIST_BYTES,
    overflow: 'cut',
  });
  const { commit, rest } = splitCommit(stdout);
  if (commit === undefined) throw unreadable(hash);
  const begin = rest.indexOf(':');
  const { files, patch = Buffer.alloc(0) } = readDiff(begin < 0 ? Buffer.alloc(0) : rest.subarray(begin), { isCut });
  const { truncated, ...text } = patchText(patch, { maxBytes: limits.maxBytes, isCut });
  return { hash, commit: { ...commit, ...text, files: listedFiles(files), total_files: files.length }, truncated };
}

function unreadable(hash: string) {
  return gitFailure(`Commit is too large to show: ${hash}`, {
    path: 'ref',
    reason: 'too_large',
    next: 'read its files one by one with path',
  });
}

function presentShown({ hash, commit, file, truncated }: Data, { path }: z.output<typeof args>): ToolText {
  const more = truncated ? '; longer than max_bytes' : '';
  if (file !== undefined) {
    const form = file.encoding === 'base64' ? ', binary, as base64' : '';
    return {
      head: `${shownName(file.path)} at ${shortHash(hash)}: ${file.size} bytes${form}${more}`,
      parts: [
        {
          type: 'text',
          text: file.content,
          rest: () => callText('git_show', { ref: hash, path, max_bytes: file.size }),
        },
      ],
    };
  }
  if (commit === undefined) return { head: hash };
  const { author, subject, body, files, total_files, patch, parents } = commit;
  const message = body.trim() === '' ? subject : `${subject}\n\n${body.trim()}`;
  const rest = (names: readonly string[]): string =>
    parents.length === 0
      ? callText('git_show', { ref: hash, path: names[0] })
      : callText('git_diff', { ref: `${hash}^`, to: hash, paths: names });
  return {
    head: `commit ${hash}\n${author.name} <${author.email}> ${author.date}\n${counted(total_files, 'file')} changed${more}`,
    parts: [{ type: 'text', text: message }, patchPart(patch, files, rest)],
  };
}
