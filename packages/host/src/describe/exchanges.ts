/** Who says what to whom on a connection that stays open: the same on every transport. */

export interface Exchange {
  /** Completes the name of the channel to the name of the operation. */
  readonly name: string;
  readonly summary: string;
  readonly messages: readonly string[];
}

/** What a client may send, and the messages that answer it. */
export interface Question extends Exchange {
  readonly replies?: readonly string[];
}

export const QUESTIONS: readonly Question[] = [
  {
    name: 'Call',
    summary: 'A client calls a tool; exactly one answer follows, and no event of the request comes after it',
    messages: ['ToolRequest'],
    replies: ['ToolResponse', 'ErrorMessage'],
  },
  {
    name: 'Batch',
    summary: 'A client makes several calls with one strategy; exactly one answer follows, with one response per call',
    messages: ['BatchRequest'],
    replies: ['BatchResponse', 'ErrorMessage'],
  },
  {
    name: 'Cancel',
    summary: 'A client asks to stop a running call; the answer of the call says how it ended',
    messages: ['CancelRequest'],
  },
  {
    name: 'Beat',
    summary: 'A client keeps its session alive',
    messages: ['Heartbeat'],
    replies: ['Heartbeat', 'ErrorMessage'],
  },
  {
    name: 'Attach',
    summary: 'A client joins a session: its SessionAck, events after `after`, answers of `pending`, then what happens',
    messages: ['SessionAttach'],
    replies: ['SessionAck', 'ErrorMessage'],
  },
  {
    name: 'Approve',
    summary: 'An approver answers a question; the first answer counts',
    messages: ['ApprovalAnswer'],
    replies: ['ApprovalAnswered', 'ErrorMessage'],
  },
  {
    name: 'OpenChild',
    summary:
      'A client opens a child of its session; from then on it may call in the name of the child on this connection',
    messages: ['ChildOpen'],
    replies: ['ChildAck', 'ErrorMessage'],
  },
  {
    name: 'EndChild',
    summary: 'A client ends a child, after its running calls or at once',
    messages: ['ChildEnd'],
    replies: ['ChildEnded', 'ErrorMessage'],
  },
];

export const GREETING: Exchange = {
  name: 'Greet',
  summary: 'The first message of every connection: which session it has',
  messages: ['SessionAck'],
};

export const SIGNS: Exchange = {
  name: 'KeepAlive',
  summary: 'The host is there; one for each session of the connection',
  messages: ['Heartbeat'],
};
