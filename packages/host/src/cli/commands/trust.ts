/** tool-runtime trust: take the workspace's own registry and lock at their word, as they are now. */
import { defineCommand, type SharedOptions, withSharedOptions } from '../command.ts';
import { plainText } from '../plain-text.ts';
import { printJson, printLine } from '../terminal.ts';
import { checkWorkspace } from '../workspace-folder.ts';

export const trust = defineCommand({
  name: 'trust',
  summary: 'Trust tool-runtime.yaml and tool-runtime.lock of the workspace in their present content; any edit ends it',
  configure(command, done) {
    withSharedOptions(command).action(async (options: SharedOptions) => {
      checkWorkspace(options.workspace);
      const { trustWorkspaceFiles } = await import('@tool-runtime/sdk');
      const files = await trustWorkspaceFiles(options);
      if (options.json === true) printJson({ trusted: files[0]?.sha256, files }, { compact: true });
      else for (const { file, sha256 } of files) printLine(`trusted sha256 ${sha256} ${plainText(file)}`);
      done(0);
    });
  },
});
