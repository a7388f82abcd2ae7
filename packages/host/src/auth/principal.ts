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
  /** The host of the fleet that let it in and vouches for its name. */
  readonly via?: string;
  /** Set for the token of one session: it reaches that session and nothing else. */
  readonly sessionId?: string;
}

/** Names of tokens belong to the host that has them: the same name on another host is someone else. */
export function fleetOwner(user: string, workspace: string, via?: string): string {
  return `fleet:${JSON.stringify(via === undefined ? [workspace, user] : [workspace, user, via])}`;
}

/** Let in by the servers of the fleet themselves, and not by another host. */
export function isFleetClient(ownerId: string): boolean {
  return ownerId.startsWith('fleet:[') && JSON.parse(ownerId.slice('fleet:'.length)).length === 2;
}

export function requireScope(principal: Principal, scope: Scope): void {
  if (principal.scopes.has(scope)) return;
  throw new ToolError('E_POLICY', `Token lacks the scope: ${scope}`, {
    details: { gate: 'auth', reason: 'scope_missing', scope, next: `use a token with the scope ${scope}` },
  });
}
