/** Names on the wire. Ids of ours become one token of `[A-Za-z0-9_-]`, so no name can reach into another's subjects. */
import { createHash } from 'node:crypto';

const PLAIN = /^[A-Za-z0-9_-]{1,64}$/;

/** A plain id as it is; any other as `~`-free base64url of its bytes behind `b64_`, or of its digest when it is long. */
export function token(id: string): string {
  if (PLAIN.test(id) && !id.startsWith('b64_') && !id.startsWith('sha_')) return id;
  const encoded = Buffer.from(id).toString('base64url');
  return encoded.length <= 100 ? `b64_${encoded}` : `sha_${digest(id)}`;
}

/** The id of a token; a long id is gone, its token stands for it. */
export function untoken(text: string): string {
  return text.startsWith('b64_') ? Buffer.from(text.slice(4), 'base64url').toString() : text;
}

export function digest(...parts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:`).update(part);
  return hash.digest('base64url').slice(0, 32);
}

export const STREAMS = {
  /** Claims and outcomes of calls, one subject per call. */
  journal: 'JOURNAL',
  /** The journals of all hosts, shipped by them. */
  records: 'RECORDS',
  leases: 'KV_LEASES',
  hosts: 'KV_HOSTS',
  /** How much of each budget is used. */
  budgets: 'KV_BUDGETS',
  /** Digests of artifacts, by their handles. */
  handles: 'KV_HANDLES',
} as const;

export const BUCKETS = { artifacts: 'artifacts' } as const;

/** Where calls to a workspace go: only its holder listens. */
export function workspaceSubject(tenant: string, workspace: string): string {
  return `trt.${token(tenant)}.ws.${token(workspace)}`;
}

export function tunnelSubject(tenant: string, workspace: string, user: string, id: string): string {
  return `${workspaceSubject(tenant, workspace)}.${token(user)}.${id}`;
}

/** The same for hosts that send the request of someone they have let in: only hosts may publish there. */
export function gatewaySubject(tenant: string, workspace: string): string {
  return `trt.${token(tenant)}.gw.${token(workspace)}`;
}

/** Questions about approvals, to all hosts: of a host, or of a user that hosts may name as an approver. */
export function approvalsSubject(tenant: string, kind: 'gw' | 'user', name: string): string {
  return `apr.${token(tenant)}.${kind}.${token(name)}`;
}

export function inboxPrefix(user: string): string {
  return inboxOf(token(user));
}

/** The same for a user whose token is known. */
export function inboxOf(userToken: string): string {
  return `_INBOX.${userToken}`;
}

export function callSubject(tenant: string, workspace: string, scope: string, key: string): string {
  return `j.${token(tenant)}.${token(workspace)}.${digest(scope, key)}`;
}

export function recordSubject(tenant: string, host: string, workspace: string, journal: string): string {
  return `r.${token(tenant)}.${token(host)}.${token(workspace)}.${token(journal)}`;
}

/** Who holds a workspace: written when it is taken and when it is given back. */
export function leaseSubject(workspace: string): string {
  return `$KV.LEASES.ws.${token(workspace)}`;
}

/** The lease of a host, under which it holds all its workspaces: the only one that is renewed. */
export function hostLeaseSubject(id: string): string {
  return `$KV.LEASES.host.${token(id)}`;
}

/** Where hosts say that they gave a workspace back, so that others need not wait for their next look. `*`: any. */
export function freeSubject(tenant: string, workspace: string): string {
  return `free.${token(tenant)}.${workspace === '*' ? workspace : token(workspace)}`;
}

export function budgetSubject(tenant: string, name: string): string {
  return `$KV.BUDGETS.${token(tenant)}.${token(name)}`;
}

export function handleSubject(tenant: string, workspace: string, id: string): string {
  return `$KV.HANDLES.${token(tenant)}.${token(workspace)}.${token(id)}`;
}

export function hostSubject(host: string): string {
  return `$KV.HOSTS.${token(host)}`;
}
