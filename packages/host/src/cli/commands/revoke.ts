/** tool-runtime revoke: the opposite of trust. */
import { defineCommand, type SharedOptions, withSharedOptions } from '../command.ts';
import { printJson, printLine } from '../terminal.ts';
import { checkWorkspace } from '../workspace-folder.ts';

export const revoke = defineCommand({
  name: 'revoke',
  summary: 'Stop trusting tool-runtime.yaml of the workspace',
  configure(command, done) {
    withSharedOptions(command).action(async (options: SharedOptions) => {
      checkWorkspace(options.workspace);
      const { revokeWorkspaceRegistry } = await import('@tool-runtime/sdk');
      const revoked = await revokeWorkspaceRegistry(options);
      if (options.json === true) printJson({ revoked }, { compact: true });
      else printLine(revoked ? 'revoked' : 'it was not trusted');
      done(revoked ? 0 : 1);
    });
  },
});
