/** The sender of a message, as far as the host could verify it, and what it may do. */
import { type Scope, ToolError } from '@tool-runtime/protocol';

export interface Principal {
  /** Sessions belong to the principal of this id. */
  readonly id: string;
  /** Goes into the journal as the actor. */
  readonly name: string;
  readonly scopes: ReadonlySet<Scope>;
  /** The kernel says that it is the user the host runs as. */
  readonly isOwner?: true;
  /** The one workspace it may open sessions in; any of the host's when left out. */
  readonly workspace?: string;
  /** Set for the token of one session: it reaches that session and nothing else. */
  readonly sessionId?: string;
}

export function requireScope(principal: Principal, scope: Scope): void {
  if (principal.scopes.has(scope)) return;
  throw new ToolError('E_POLICY', `Token lacks the scope: ${scope}`, {
    details: { gate: 'auth', reason: 'scope_missing', scope, next: `use a token with the scope ${scope}` },
  });
}
