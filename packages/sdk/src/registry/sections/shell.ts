/** `shell`: how command lines run, and what becomes of what cannot be seen in them. */
import { z } from 'zod';
import type { Registry, ShellSettings } from '../../contracts/registry.ts';
import { isWritten, type Narrowing } from '../narrowing.ts';
import { defineSection } from '../section.ts';

const schema = z.strictObject({
  mode: z
    .enum(['strict', 'sandboxed'])
    .default('strict')
    .describe(
      'strict: plain commands that shell_allow lists, without a shell. sandboxed: any line, run by bash inside the sandbox; needs isolation: bubblewrap',
    ),
  unseen: z
    .enum(['allow', 'ask', 'deny'])
    .default('allow')
    .describe('Sandboxed mode: lines with parts that cannot be seen before they run (eval, computed names, scripts)'),
});

export const shell = defineSection({
  keys: { shell: schema.prefault({}).describe('How command lines of callers run') },
  build: (written) => ({ shell: written.shell as ShellSettings }),
  narrow: (narrowing) => ({ shell: narrowShell(narrowing) }),
  needs: (written) => (written.shell.mode === 'sandboxed' ? 'process_exec' : undefined),
});

/** From the strictest on. */
const UNSEEN = ['deny', 'ask', 'allow'] as const;

function narrowShell(narrowing: Narrowing): Registry['shell'] {
  const { host, session, overreach } = narrowing;
  const isWider = session.shell.mode === 'sandboxed' && host.shell.mode === 'strict';
  if (isWider) overreach.push({ path: 'shell.mode', message: 'Command mode is strict at the host: sandboxed' });
  return { mode: isWider ? 'strict' : session.shell.mode, unseen: narrowUnseen(narrowing) };
}

function narrowUnseen({ host, session, overreach }: Narrowing): ShellSettings['unseen'] {
  const [own, limit] = [session.shell.unseen, host.shell.unseen];
  if (UNSEEN.indexOf(own) <= UNSEEN.indexOf(limit)) return own;
  const path = 'shell.unseen';
  if (isWritten(session, path)) overreach.push({ path, message: `Parts that cannot be seen: the host says ${limit}` });
  return limit;
}
