/** tool-runtime trust: take the workspace's own registry and lock at their word, as they are now. */
import { safeLines } from '@tool-runtime/protocol/internal';
import type { TrustedFile } from '@tool-runtime/sdk';
import { plainText, printJson, printLine } from '../../terminal/terminal.ts';
import { checkWorkspace } from '../../terminal/workspace-folder.ts';
import { defineCommand, type SharedOptions, withSharedOptions } from '../command.ts';

export const trust = defineCommand({
  name: 'trust',
  summary:
    'Trust tool-runtime.yaml and tool-runtime.lock of the workspace in their present content, and no other; shows what changed',
  configure(command, done) {
    withSharedOptions(command).action(async (options: SharedOptions) => {
      checkWorkspace(options.workspace);
      const { trustWorkspaceFiles } = await import('@tool-runtime/sdk');
      const files = await trustWorkspaceFiles(options);
      if (options.json === true) printJson({ trusted: files[0]?.sha256, files }, { compact: true });
      else for (const file of files) printTrusted(file);
      done(0);
    });
  },
});

/** What was decided goes to stderr, so that stdout holds the digests alone. */
function printTrusted({ file, sha256, bytes, lines, previous, diff }: TrustedFile): void {
  const name = plainText(file);
  process.stderr.write(`${name}: ${lines} lines, ${bytes} bytes; ${comparison(previous, diff)}\n`);
  if (previous !== sha256) process.stderr.write(safeLines(diff ?? ''));
  printLine(`trusted sha256 ${sha256} ${name}`);
}

function comparison(previous: string | null, diff: string | null): string {
  if (previous === null) return 'no content of it was trusted before';
  if (diff === '') return 'the same content as was trusted last';
  const than = `the content that was trusted last (sha256 ${previous.slice(0, 12)}…)`;
  return diff === null ? `differs from ${than}, which was too large to be kept` : `compared with ${than}`;
}
