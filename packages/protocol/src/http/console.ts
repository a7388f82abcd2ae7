/** Bodies of the console's sign-in: a one-time link, and what its code becomes. */
import { z } from 'zod';
import { timestampSchema } from '../envelopes/fields.ts';
import { scopeSchema } from './host-info.ts';

export const CONSOLE_ROLES = ['viewer', 'approver'] as const;
const consoleRoleSchema = z
  .enum(CONSOLE_ROLES)
  .describe('`viewer` sees everything; `approver` also answers questions and tries tools');
export type ConsoleRole = z.infer<typeof consoleRoleSchema>;

export const consoleLinkBodySchema = z
  .strictObject({ role: consoleRoleSchema.default('approver') })
  .meta({ id: 'ConsoleLinkBody' });
export type ConsoleLinkBody = Readonly<z.input<typeof consoleLinkBodySchema>>;

export const consoleLinkSchema = z
  .strictObject({
    role: consoleRoleSchema,
    path: z.string().describe('Behind the address of the host; the code is in the fragment, which is never sent'),
    expires_at: timestampSchema,
  })
  .meta({ id: 'ConsoleLink' });
export type ConsoleLink = Readonly<z.infer<typeof consoleLinkSchema>>;

export const signInSchema = z.strictObject({ code: z.string().min(1).max(256) }).meta({ id: 'SignIn' });

const session = {
  role: consoleRoleSchema,
  name: z.string().describe('Who answers questions, in the journal'),
  scopes: z.array(scopeSchema).readonly(),
  expires_at: timestampSchema,
  in_fleet: z.literal(true).exactOptional().describe('The host is part of a fleet'),
};

export const consoleSessionSchema = z.strictObject(session).meta({ id: 'ConsoleSession' });
export type ConsoleSession = Readonly<z.infer<typeof consoleSessionSchema>>;

export const signedInSchema = z
  .strictObject({
    ...session,
    key: z.string().describe('For the header X-Console-Key of every request, with the cookie'),
  })
  .meta({ id: 'SignedIn' });
export type SignedIn = Readonly<z.infer<typeof signedInSchema>>;
