/** `sealed_args`: arguments of calls, kept encrypted so that the calls can be judged again under another registry. */
import { z } from 'zod';
import type { SealedArgsSettings } from '../../contracts/registry.ts';
import { isWritten, type Narrowing } from '../narrowing.ts';
import { defineSection } from '../section.ts';

const schema = z.strictObject({
  keep: z
    .boolean()
    .default(true)
    .describe('Whether arguments are kept; without them policy simulate and policy suggest cannot judge a call again'),
  days: z.int().min(0).max(36_500).default(30).describe('Days that they are kept; 0: always'),
  max_kib: z
    .int()
    .min(1)
    .max(8192)
    .default(64)
    .describe('Size of the arguments of one call above which they are not kept'),
});

export const sealedArgs = defineSection({
  keys: {
    sealed_args: schema.prefault({}).describe('Arguments of calls, kept encrypted in the state folder for rehearsals'),
  },
  build: (written) => ({ sealedArgs: written.sealed_args as SealedArgsSettings }),
  narrow: (narrowing) => ({ sealedArgs: narrowSealedArgs(narrowing) }),
});

/** They outlive the session and are the operator's means, so only the operator decides. */
function narrowSealedArgs({ host, session, overreach }: Narrowing): SealedArgsSettings {
  for (const key of Object.keys(host.sealedArgs) as (keyof SealedArgsSettings)[]) {
    const path = `sealed_args.${key}`;
    if (session.sealedArgs[key] === host.sealedArgs[key] || !isWritten(session, path)) continue;
    overreach.push({ path, message: `Sealed arguments are set by the host: ${path} is ${host.sealedArgs[key]}` });
  }
  return host.sealedArgs;
}
