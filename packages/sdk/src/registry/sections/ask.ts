/** `ask`: what a person who is asked about a command gets to see. */
import { z } from 'zod';
import { ASK_MODES, type AskMode } from '../../contracts/commands.ts';
import { isWritten, type Narrowing } from '../narrowing.ts';
import { defineSection } from '../section.ts';

export const ask = defineSection({
  keys: {
    ask: z
      .enum(ASK_MODES)
      .default('command_line')
      .describe(
        'What an approver of a command sees: command_line is asked before anything runs; with_effects runs it on an overlay first, without network, and shows its output and diff; with_effects_and_network lets that run reach allowed_domains',
      ),
  },
  build: (written) => ({ ask: written.ask }),
  narrow: (narrowing) => ({ ask: hostsOwn(narrowing) }),
});

/** Neither is stricter than the other: one shows the effects, the other runs nothing before the answer. The host decides. */
function hostsOwn({ host, session, overreach }: Narrowing): AskMode {
  if (session.ask !== host.ask && isWritten(session, 'ask')) {
    overreach.push({ path: 'ask', message: `Approvals cannot be asked ${session.ask}: the host says ${host.ask}` });
  }
  return host.ask;
}
