/** tool-runtime revoke: the opposite of trust. */
import { plainText, printJson, printLine } from '../../terminal/terminal.ts';
import { checkWorkspace } from '../../terminal/workspace-folder.ts';
import { defineCommand, type SharedOptions, withSharedOptions } from '../command.ts';

export const revoke = defineCommand({
  name: 'revoke',
  summary: 'Stop trusting tool-runtime.yaml and tool-runtime.lock of the workspace',
  configure(command, done) {
    withSharedOptions(command).action(async (options: SharedOptions) => {
      checkWorkspace(options.workspace);
      const { revokeWorkspaceFiles } = await import('@tool-runtime/sdk');
      const files = await revokeWorkspaceFiles(options);
      if (options.json === true) printJson({ revoked: files.length > 0, files }, { compact: true });
      else if (files.length === 0) printLine('it was not trusted');
      else for (const { file } of files) printLine(`revoked ${plainText(file)}`);
      done(files.length > 0 ? 0 : 1);
    });
  },
});
