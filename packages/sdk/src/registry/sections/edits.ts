/** `edits`: how closely the text of an edit or a patch must fit the file. */
import { z } from 'zod';
import type { EditSettings } from '../../contracts/registry.ts';
import type { Narrowing } from '../narrowing.ts';
import { defineSection } from '../section.ts';

const schema = z.strictObject({
  inexact: z
    .enum(['allow', 'refuse'])
    .default('allow')
    .describe(
      'Whether file_edit and file_patch may place a text that differs from the file in line ends, blanks, indent, ' +
        'look-alike characters or written-out escapes',
    ),
});

export const edits = defineSection({
  keys: { edits: schema.prefault({}).describe('How closely the text of an edit or a patch must fit the file') },
  build: (written) => ({ edits: written.edits as EditSettings }),
  narrow: (narrowing) => ({ edits: narrowEdits(narrowing) }),
});

function narrowEdits({ host, session }: Narrowing): EditSettings {
  return host.edits.inexact === 'refuse' ? host.edits : session.edits;
}
