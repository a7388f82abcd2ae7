/** The name of an external tool: it is a wire name, a key of the lock file and a folder at once. */
import { ToolError } from '@tool-runtime/protocol';
import { isExternalToolName } from '../../contracts/external.ts';

const SHOWN_CHARACTERS = 64;

/** Returns the name unchanged or throws E_VALIDATION_FAIL. */
export function checkToolName(name: string): string {
  if (isExternalToolName(name)) return name;
  const shown = name.slice(0, SHOWN_CHARACTERS).replace(/[^\x20-\x7e]/g, '?');
  throw new ToolError('E_VALIDATION_FAIL', `Name of an external tool is not valid: ${shown}`, {
    details: {
      reason: 'invalid_tool_name',
      next: 'Use up to 64 of a-z, 0-9, dot, underscore and hyphen, beginning with a letter or digit, without ".."',
    },
  });
}
