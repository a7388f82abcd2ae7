/** token revoke: a running host refuses the token within a second. */
import type { Command } from 'commander';
import { plainText } from '../../../terminal/plain-text.ts';
import { printJson, printLine } from '../../../terminal/terminal.ts';
import type { Done } from '../../command.ts';
import { type TokenOptions, tokenFileOf, withTokenOptions } from './token-options.ts';

export function addRevoke(command: Command, done: Done): void {
  withTokenOptions(command.command('revoke').description('Remove a token by its name'))
    .argument('<name>', 'as token list shows it')
    .action(async (name: string, options: TokenOptions) => {
      const { removeToken } = await import('../../../auth/edit-token-file.ts');
      const isRevoked = removeToken(await tokenFileOf(options), name);
      if (options.json === true) printJson({ revoked: isRevoked }, { compact: true });
      else printLine(isRevoked ? `revoked ${name}` : `no token has the name ${plainText(name)}`);
      done(isRevoked ? 0 : 1);
    });
}
