/** What one sender may reach, for as long as its connection stays. All throw ToolError, or reject with it. */
import type {
  ApprovalAnswer,
  ApprovalAnswered,
  ChildAck,
  ChildEnd,
  ChildOpen,
  SessionUsage,
} from '@tool-runtime/protocol';
import type { ServedSession } from './served-session.ts';

export interface Reach {
  /** Refuses when no new calls are taken. */
  admitCall(): void;
  session(id: string): ServedSession;
  /** From then on `session` also finds the child. */
  openChild(message: ChildOpen): Promise<ChildAck>;
  endChild(message: ChildEnd): Promise<SessionUsage>;
  answerApproval(answer: ApprovalAnswer): ApprovalAnswered;
  readonly now: () => number;
}
