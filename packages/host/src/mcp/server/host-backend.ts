/** The backend of one principal on a host: its session in the host's table, the host's desk, the tools of its workspace. */
import { randomBytes } from 'node:crypto';
import { createRequestStateCodec, type RequestStateCodec, type ServerEventBus } from '@modelcontextprotocol/server';
import type { ToolListing } from '@tool-runtime/sdk';
import type { Principal } from '../../auth/principal.ts';
import type { Host } from '../../sessions/create-host.ts';
import { unknownSession } from '../../sessions/refusals.ts';
import type { HostChild, HostSession } from '../../sessions/session-table.ts';
import type { ToolProfile } from '../profiles/profiles.ts';
import { artifactResources } from './artifact-resources.ts';
import { CallTasks } from './call-tasks.ts';
import { WaitingCalls } from './client-questions.ts';
import { journalResources } from './journal-resources.ts';
import type { CallState, ClientIdentity, McpBackend, McpChildren } from './mcp-backend.ts';
import type { PromptSource } from './prompt-source.ts';
import type { ResourceSource } from './resource-source.ts';
import { errorExplanation, ruleExplanation } from './rule-prompts.ts';
import { ToolList } from './tool-list.ts';
import type { Present } from './tool-result.ts';

/** What a program that embeds a host may add to its MCP side. */
export interface McpExtras {
  readonly present?: (tool: string) => Present | undefined;
  /** Tools that run so long that a client without the tasks extension is refused instead of being left waiting. */
  readonly needsTask?: (tool: string) => boolean;
  readonly resources?: readonly ResourceSource[];
  readonly prompts?: readonly PromptSource[];
  /** Where the program announces that lists or resources changed. */
  readonly changes?: ServerEventBus;
}

export interface HostBackendOptions {
  readonly host: Host;
  readonly principal: Principal;
  readonly profile: ToolProfile;
  readonly extras: McpExtras;
}

export interface HostBackend extends McpBackend {
  /** Another runtime took over: the next list and call are its own. Calls under way end under the last one. */
  renew(): void;
  /** Ends the session, if it was opened here. */
  close(): Promise<void>;
}

export function createHostBackend({ host, principal, profile, extras }: HostBackendOptions): HostBackend {
  let opening: Promise<HostSession> | undefined;
  let opened: HostSession | undefined;
  const runtime = () => host.workspaces.find(principal.workspace).runtime;
  const ceiling = profile.ceiling === undefined ? {} : { capabilities: profile.ceiling };

  async function open({ name, version }: ClientIdentity): Promise<HostSession> {
    if (principal.sessionId !== undefined) return host.session(principal, principal.sessionId);
    const client = { name: name.slice(0, 200) || 'mcp client', ...(version === undefined ? {} : { version }) };
    return host.openSession(principal, { client, ...ceiling });
  }

  async function session(client: ClientIdentity): Promise<HostSession> {
    // One that expired meanwhile is followed by another: to the client it is the same token.
    if (opened?.isClosing === true) opening = undefined;
    opening ??= open(client);
    opening.catch(() => {
      opening = undefined;
    });
    opened = await opening;
    return opened;
  }

  /** The token of a session sees what that session has, which may be less than a new one would get. */
  async function list(): Promise<readonly ToolListing[]> {
    if (principal.sessionId !== undefined) {
      return host.session(principal, principal.sessionId).served.session.tools();
    }
    return (await runtime().preview({ actor: principal.name, ...ceiling })).tools;
  }

  const tools = new ToolList(list);
  return {
    serverVersion: host.serverVersion,
    profile,
    streamMs: host.limits.mcpStreamMs,
    tools,
    session: async (client) => (await session(client)).served,
    openedSession: () => opened?.served,
    children: hostChildren(host, principal, session),
    approvals: host.approvals,
    principal,
    present: (tool) => extras.present?.(tool),
    resources: [artifactResources, journalResources(async () => runtime()), ...(extras.resources ?? [])],
    prompts: [ruleExplanation, errorExplanation, ...(extras.prompts ?? [])],
    waiting: new WaitingCalls(),
    tasks: new CallTasks(),
    needsTask: (tool) => extras.needsTask?.(tool) ?? false,
    states: sealFor(principal),
    renew() {
      // A token of one session stays with that session.
      if (principal.sessionId !== undefined) return;
      const last = opening;
      [opening, opened] = [undefined, undefined];
      tools.forget();
      // It ends with its calls and children, or was not to be had.
      void last?.then((session) => host.closeSession(session, { children: 'end' })).catch(() => {});
    },
    async close() {
      if (opened !== undefined && principal.sessionId === undefined) {
        await host.closeSession(opened, { cancel: true });
      }
    },
  };
}

/** State that one principal was given is of no use to another. */
function sealFor(principal: Principal): RequestStateCodec<CallState> {
  return createRequestStateCodec<CallState>({ key: randomBytes(32), ttlSeconds: 3600, bind: () => principal.id });
}

/** Children of a session of the host that were opened over MCP. They need no token: their parent calls through us. */
function hostChildren(
  host: Pick<Host, 'children'>,
  principal: Principal,
  session: (client: ClientIdentity) => Promise<HostSession>,
): McpChildren {
  const children = new Map<string, HostChild>();

  function find(id: string): HostChild {
    const found = children.get(id);
    if (found === undefined) throw unknownSession();
    return found;
  }

  return {
    async open(client, body) {
      const opened = await host.children.open(await session(client), body);
      const { child } = opened;
      children.set(child.id, opened);
      void child.ended.then(() => children.delete(child.id));
      return child;
    },
    find: (id) => find(id).served,
    end: async (id, { cancel }) => host.children.end(find(id), { cancel, by: principal.name }),
  };
}
