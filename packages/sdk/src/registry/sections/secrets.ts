/** `secrets`: exceptions of the secrets scan. */
import { z } from 'zod';
import type { SecretSettings } from '../../contracts/registry.ts';
import type { Narrowing } from '../narrowing.ts';
import { defineSection } from '../section.ts';
import { hashText } from '../texts.ts';

const schema = z.strictObject({
  allow: z
    .array(hashText)
    .default([])
    .describe('Exceptions of secrets.scan: hash of a blob, or fingerprint of a found value as the finding names it'),
});

export const secrets = defineSection({
  keys: { secrets: schema.prefault({}).describe('What the secrets scan ignores') },
  build: (written) => ({ secrets: written.secrets as SecretSettings }),
  narrow: (narrowing) => ({ secrets: narrowSecrets(narrowing) }),
});

/** An exception lets something through that looks like a secret: only the host makes them. */
function narrowSecrets({ host, session, overreach }: Narrowing): SecretSettings {
  const added = session.secrets.allow.filter((hash) => !host.secrets.allow.includes(hash));
  if (added.length > 0) {
    overreach.push({ path: 'secrets.allow', message: 'Exceptions of the secrets scan are not those of the host' });
  }
  return host.secrets;
}
