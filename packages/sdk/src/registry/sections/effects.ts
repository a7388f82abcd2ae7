/** `effects`: when what commands write in the workspace becomes real. */
import { z } from 'zod';
import { EFFECTS_MODES, type EffectsMode, stricterEffects } from '../../contracts/commands.ts';
import { isWritten, type Narrowing } from '../narrowing.ts';
import { defineSection } from '../section.ts';

export const effects = defineSection({
  keys: {
    effects: z
      .enum(EFFECTS_MODES)
      .default('direct')
      .describe(
        'What commands write in the workspace: direct is real at once; recorded is applied when the command ends, all of it or none; preview is real only after change_apply',
      ),
  },
  build: (written) => ({ effects: written.effects }),
  narrow: (narrowing) => ({ effects: narrowEffects(narrowing) }),
});

function narrowEffects({ host, session, overreach }: Narrowing): EffectsMode {
  const effective = stricterEffects(host.effects, session.effects);
  if (effective !== session.effects && isWritten(session, 'effects')) {
    overreach.push({
      path: 'effects',
      message: `Effects cannot be ${session.effects}: the host requires ${host.effects}`,
    });
  }
  return effective;
}
