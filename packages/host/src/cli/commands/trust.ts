/** tool-runtime trust: take the workspace's own registry at its word, as it is now. */
import { defineCommand, type SharedOptions, withSharedOptions } from '../command.ts';
import { printJson, printLine } from '../terminal.ts';
import { checkWorkspace } from '../workspace-folder.ts';

export const trust = defineCommand({
  name: 'trust',
  summary: 'Trust tool-runtime.yaml of the workspace in its present content; any edit ends the trust',
  configure(command, done) {
    withSharedOptions(command).action(async (options: SharedOptions) => {
      checkWorkspace(options.workspace);
      const { trustWorkspaceRegistry } = await import('@tool-runtime/sdk');
      const sha256 = await trustWorkspaceRegistry(options);
      if (options.json === true) printJson({ trusted: sha256 }, { compact: true });
      else printLine(`trusted sha256 ${sha256}`);
      done(0);
    });
  },
});
