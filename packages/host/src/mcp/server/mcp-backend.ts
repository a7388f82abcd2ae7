/** What an MCP server serves from: the tools of a session that is opened only when it is needed. */
import type { RequestStateCodec } from '@modelcontextprotocol/server';
import type { OpenChildBody, SessionUsage } from '@tool-runtime/protocol';
import type { ChildSession } from '@tool-runtime/sdk';
import type { Principal } from '../../auth/principal.ts';
import type { ApprovalDesk } from '../../sessions/approval-desk.ts';
import type { ServedSession } from '../../sessions/served-session.ts';
import type { ToolProfile } from '../profiles/profiles.ts';
import type { CallTasks } from './call-tasks.ts';
import type { WaitingCalls } from './client-questions.ts';
import type { PromptSource } from './prompt-source.ts';
import type { ResourceSource } from './resource-source.ts';
import type { ToolList } from './tool-list.ts';
import type { Present } from './tool-result.ts';

export interface ClientIdentity {
  readonly name: string;
  readonly version?: string | undefined;
}

export interface McpBackend {
  readonly serverVersion: string;
  /** Every tool a session would have. Opens none. */
  readonly tools: ToolList;
  /** Left out where the list never changes. */
  onToolsChanged?(listener: () => void): void;
  /** Which of them the client is shown. */
  readonly profile: ToolProfile;
  /** How long the stream of a call stays open where the client can come back for the rest. */
  readonly streamMs?: number;
  /** Opened with the first call, under the name the client gives itself. */
  session(client: ClientIdentity): Promise<ServedSession>;
  /** The session, once there is one. */
  openedSession(): ServedSession | undefined;
  readonly children: McpChildren;
  readonly approvals: ApprovalDesk;
  /** The user of the client; without the scope `approve` questions wait for an approver. */
  readonly principal: Principal;
  present(tool: string): Present | undefined;
  readonly resources: readonly ResourceSource[];
  readonly prompts: readonly PromptSource[];
  readonly waiting: WaitingCalls;
  readonly tasks: CallTasks;
  /** Tools that are not offered to clients of 2026 which would wait for the answer. */
  needsTask(tool: string): boolean;
  readonly states: RequestStateCodec<CallState>;
}

/** The children that were opened here. No other session can be reached from here. */
export interface McpChildren {
  open(client: ClientIdentity, body: OpenChildBody): Promise<ChildSession>;
  /** Throws ToolError for what was not opened here, and for what has ended. */
  find(sessionId: string): ServedSession;
  end(sessionId: string, how: { readonly cancel: boolean }): Promise<SessionUsage>;
}

/** Where a call stands that waits for its client; sealed, because it travels through the client. */
export interface CallState {
  readonly call: string;
  readonly question: string;
}
