/** What a token may do. None includes another: a token that may only approve cannot call. */
import { z } from 'zod';

export const SCOPES = ['read', 'call', 'approve', 'admin'] as const;
export const scopeSchema = z.enum(SCOPES);
export type Scope = z.infer<typeof scopeSchema>;
