/** A commit as the git tools answer it. */
import { z } from 'zod';

const person = z.strictObject({
  name: z.string(),
  email: z.string(),
  date: z.string().describe('ISO 8601 with the offset it was written with'),
});

export const commitShape = {
  hash: z.string(),
  parents: z.array(z.string()).readonly(),
  author: person,
  committer: person,
  subject: z.string(),
  body: z.string().describe('Message without its subject'),
  refs: z
    .array(z.string())
    .readonly()
    .describe('Full names of branches and tags that point here; HEAD where it is checked out'),
};
