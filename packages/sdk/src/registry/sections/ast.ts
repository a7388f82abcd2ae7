/** `ast`: defaults of code intelligence calls. */
import { z } from 'zod';
import type { Registry } from '../../contracts/registry.ts';
import { isWritten, type Narrowing } from '../narrowing.ts';
import { defineSection } from '../section.ts';
import { nameText } from '../texts.ts';

const schema = z.strictObject({
  language: nameText.exactOptional().describe('Language of calls that name none'),
  format_on_save: z.boolean().default(false).describe('Format edited files unless the call says otherwise'),
  validate_on_edit: z
    .boolean()
    .default(false)
    .describe('Run the build check after edits unless the call says otherwise'),
  diagnostics_wait_ms: z
    .int()
    .min(0)
    .max(10_000)
    .default(400)
    .describe(
      'How long an edit waits for a running language server; what it finds later comes with the next edit of the file',
    ),
});

export const ast = defineSection({
  keys: { ast: schema.prefault({}).describe('Defaults of code intelligence calls') },
  build: (written) => ({ ast: written.ast as Registry['ast'] }),
  narrow: (narrowing) => ({ ast: narrowAst(narrowing) }),
});

/** Language, formatting and waiting are preferences; the check after edits is a guard. */
function narrowAst({ host, session }: Narrowing): Registry['ast'] {
  const language = session.ast.language ?? host.ast.language;
  const formatting = isWritten(session, 'ast.format_on_save') ? session : host;
  const waiting = isWritten(session, 'ast.diagnostics_wait_ms') ? session : host;
  return {
    ...(language === undefined ? {} : { language }),
    format_on_save: formatting.ast.format_on_save,
    validate_on_edit: host.ast.validate_on_edit || session.ast.validate_on_edit,
    diagnostics_wait_ms: waiting.ast.diagnostics_wait_ms,
  };
}
