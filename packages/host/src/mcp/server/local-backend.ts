/**
 * The backend of a stdio server: one runtime in this process, opened with the first list, and one session, opened with
 * the first call. Some clients start the program twice and use it once; the idle one leaves no trace in the journal.
 */
import { randomBytes } from 'node:crypto';
import { createRequestStateCodec } from '@modelcontextprotocol/server';
import { SCOPES } from '@tool-runtime/protocol';
import type { ChildSession, Runtime, Session } from '@tool-runtime/sdk';
import type { Principal } from '../../auth/principal.ts';
import type { ApprovalDesk } from '../../sessions/approval-desk.ts';
import { toChildOptions } from '../../sessions/child-messages.ts';
import { unknownSession } from '../../sessions/refusals.ts';
import type { ServedSession } from '../../sessions/served-session.ts';
import type { ToolProfile } from '../profiles/profiles.ts';
import { artifactResources } from './artifact-resources.ts';
import { CallTasks } from './call-tasks.ts';
import { WaitingCalls } from './client-questions.ts';
import { journalResources } from './journal-resources.ts';
import type { CallState, ClientIdentity, McpBackend, McpChildren } from './mcp-backend.ts';
import { errorExplanation, ruleExplanation } from './rule-prompts.ts';
import { ToolList } from './tool-list.ts';
import type { Present } from './tool-result.ts';

export interface LocalBackendOptions {
  readonly runtime: () => Promise<Runtime>;
  readonly approvals: ApprovalDesk;
  readonly profile: ToolProfile;
  readonly present?: (tool: string) => Present | undefined;
  readonly serverVersion: string;
}

export interface LocalBackend extends McpBackend {
  /** Another runtime took over: the next list and call are its own. Resolves when the last session has ended. */
  renew(): Promise<void>;
  close(): Promise<void>;
}

/** The user who starts the program is the user who answers. */
const USER: Principal = { id: 'stdio', name: 'mcp user', scopes: new Set(SCOPES) };

export function createLocalBackend(options: LocalBackendOptions): LocalBackend {
  const { runtime, approvals, profile, serverVersion } = options;
  const capabilities = profile.ceiling === undefined ? {} : { capabilities: profile.ceiling };
  // Frozen until another runtime takes over, so worked out once.
  const tools = new ToolList(async () => (await (await runtime()).preview({ actor: 'mcp', ...capabilities })).tools);
  let opening: Promise<ServedSession> | undefined;
  let opened: ServedSession | undefined;
  let lastEventId = 0;
  const listeners: (() => void)[] = [];
  /** Of runtimes before this one, with calls under way. */
  const leaving = new Set<ServedSession>();
  const serving = { keptEvents: 0, nextEventId: () => ++lastEventId, now: () => performance.now() };

  /** Loads the SDK, which an opening handshake must not wait for. */
  async function serve(session: Session): Promise<ServedSession> {
    const { serveSession } = await import('../../sessions/served-session.ts');
    return serveSession(session, serving);
  }

  async function open({ name, version }: ClientIdentity): Promise<ServedSession> {
    const client = version === undefined ? name : `${name} ${version}`;
    const session = await (await runtime()).openSession({
      actor: 'mcp',
      client: client.slice(0, 200) || 'mcp client',
      ...capabilities,
    });
    opened = await serve(session);
    return opened;
  }

  function session(client: ClientIdentity): Promise<ServedSession> {
    opening ??= open(client);
    return opening;
  }

  return {
    serverVersion,
    profile,
    tools,
    session,
    openedSession: () => opened,
    children: localChildren(session, serve),
    approvals,
    principal: USER,
    present: options.present ?? (() => undefined),
    resources: [artifactResources, journalResources(runtime)],
    prompts: [ruleExplanation, errorExplanation],
    waiting: new WaitingCalls(),
    tasks: new CallTasks(),
    needsTask: () => false,
    states: createRequestStateCodec<CallState>({ key: randomBytes(32), ttlSeconds: 3600 }),
    onToolsChanged: (listener) => void listeners.push(listener),
    async renew() {
      const last = await opening;
      [opening, opened] = [undefined, undefined];
      tools.forget();
      for (const listener of listeners) listener();
      if (last === undefined) return;
      // Calls under way end as they began: under the registry they were judged by.
      leaving.add(last);
      await last.close().finally(() => leaving.delete(last));
    },
    async close() {
      await Promise.all([await opening, ...leaving].map((served) => served?.close({ cancel: true })));
    },
  };
}

interface OpenChild {
  readonly child: ChildSession;
  readonly served: ServedSession;
}

/** Children of the one session of a stdio server. */
function localChildren(
  session: McpBackend['session'],
  serve: (session: Session) => Promise<ServedSession>,
): McpChildren {
  const children = new Map<string, OpenChild>();

  function find(id: string): OpenChild {
    const found = children.get(id);
    if (found === undefined) throw unknownSession();
    return found;
  }

  return {
    async open(client, body) {
      const parent = await session(client);
      const child = await parent.session.openChild(toChildOptions(body));
      const served = await serve(child);
      children.set(child.id, { child, served });
      void child.ended.then(async () => {
        children.delete(child.id);
        // Over already; its end reports why it failed.
        await served.close().catch(() => undefined);
      });
      return child;
    },
    find: (id) => find(id).served,
    async end(id, { cancel }) {
      const { child } = find(id);
      return cancel ? child.cancel('asked for by its parent') : child.complete();
    },
  };
}
