/**
 * The backend of a stdio server: one runtime in this process, opened with the first list, and one session, opened with
 * the first call. Some clients start the program twice and use it once; the idle one leaves no trace in the journal.
 */
import { randomBytes } from 'node:crypto';
import type { RequestStateCodec } from '@modelcontextprotocol/server';
import { SCOPES } from '@tool-runtime/protocol';
import type { Runtime, ToolListing } from '@tool-runtime/sdk';
import type { Principal } from '../../auth/principal.ts';
import type { ApprovalDesk } from '../../sessions/approval-desk.ts';
import { type ServedSession, serveSession } from '../../sessions/served-session.ts';
import type { ToolProfile } from '../profiles/profiles.ts';
import { artifactResources } from './artifact-resources.ts';
import { WaitingCalls } from './client-questions.ts';
import { journalResources } from './journal-resources.ts';
import { localChildren } from './local-children.ts';
import type { CallState, ClientIdentity, McpBackend } from './mcp-backend.ts';
import { presentBlocks } from './present-blocks.ts';
import { errorExplanation, ruleExplanation } from './rule-prompts.ts';
import type { Present } from './tool-result.ts';

export interface LocalBackendOptions {
  readonly runtime: () => Promise<Runtime>;
  readonly approvals: ApprovalDesk;
  readonly profile: ToolProfile;
  readonly present?: (tool: string) => Present | undefined;
  readonly serverVersion: string;
}

export interface LocalBackend extends McpBackend {
  close(): Promise<void>;
}

/** Whoever starts the program sits at it. */
const USER: Principal = { id: 'stdio', name: 'mcp user', scopes: new Set(SCOPES) };

export function createLocalBackend(options: LocalBackendOptions): LocalBackend {
  const { runtime, approvals, profile, serverVersion } = options;
  const capabilities = profile.ceiling === undefined ? {} : { capabilities: profile.ceiling };
  let listings: Promise<readonly ToolListing[]> | undefined;
  let opening: Promise<ServedSession> | undefined;
  let opened: ServedSession | undefined;
  let lastEventId = 0;
  const serving = { keptEvents: 0, nextEventId: () => ++lastEventId, now: () => performance.now() };

  async function open({ name, version }: ClientIdentity): Promise<ServedSession> {
    const client = version === undefined ? name : `${name} ${version}`;
    const session = await (await runtime()).openSession({
      actor: 'mcp',
      client: client.slice(0, 200) || 'mcp client',
      ...capabilities,
    });
    opened = serveSession(session, serving);
    return opened;
  }

  function session(client: ClientIdentity): Promise<ServedSession> {
    opening ??= open(client);
    return opening;
  }

  return {
    serverVersion,
    profile,
    listings() {
      // Frozen while the program runs, so worked out once.
      listings ??= runtime().then(async (opened) => (await opened.preview({ actor: 'mcp', ...capabilities })).tools);
      return listings;
    },
    session,
    openedSession: () => opened,
    children: localChildren(session, serving),
    approvals,
    principal: USER,
    present: options.present ?? (() => presentBlocks),
    resources: [artifactResources, journalResources(runtime)],
    prompts: [ruleExplanation, errorExplanation],
    waiting: new WaitingCalls(),
    states: lazyStates(),
    async close() {
      await (await opening)?.close({ cancel: true });
    },
  };
}

/** Only calls that ask something need it, and the SDK has to be loaded for it. */
function lazyStates(): RequestStateCodec<CallState> {
  let loading: Promise<RequestStateCodec<CallState>> | undefined;
  const codec = (): Promise<RequestStateCodec<CallState>> => {
    loading ??= import('@modelcontextprotocol/server').then(({ createRequestStateCodec }) =>
      createRequestStateCodec<CallState>({ key: randomBytes(32), ttlSeconds: 3600 }),
    );
    return loading;
  };
  return {
    mint: async (state, ctx) => (await codec()).mint(state, ctx),
    verify: async (state, ctx) => (await codec()).verify(state, ctx),
  };
}
