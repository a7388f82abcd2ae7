/**
 * The connections that stay open as an AsyncAPI 3.0 document. As the format has it, `receive` and `send` are seen from
 * the host.
 */
import { describeSchemas, type JsonObject } from '@tool-runtime/protocol';
import { events as eventsRoute } from '../http/routes/events.ts';
import { BEARER_NOTE, DEFAULT_ADDRESS, documentInfo } from './document-info.ts';
import { describeMessages, EVENT_NAMES, MESSAGE_NAMES } from './messages.ts';

const DESCRIPTION =
  'One message is one JSON object: a text frame of a WebSocket, or a line of a Unix socket or of standard input and ' +
  'output. A connection gets the TaskProgress of its own calls; after SessionAttach it gets all events of that session. ' +
  'Events also come as server-sent events. Everything else over HTTP: see `/openapi.json`.';

/** Channels for every message; the event stream carries only events. */
const TALKS = ['webSocket', 'lines'] as const;

const ANNOUNCEMENT: Exchange = {
  name: 'Announce',
  summary: 'What happens in a session, as it happens',
  messages: EVENT_NAMES,
};

/** Which side sends which message on an open connection; the same on every transport. */
interface Exchange {
  /** Completes the name of the channel to the name of the operation. */
  readonly name: string;
  readonly summary: string;
  readonly messages: readonly string[];
}

/** What a client may send, and the messages that answer it. */
interface Question extends Exchange {
  readonly replies?: readonly string[];
}

const QUESTIONS: readonly Question[] = [
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

const GREETING: Exchange = {
  name: 'Greet',
  summary: 'The first message of every connection: which session it has',
  messages: ['SessionAck'],
};

const SIGNS: Exchange = {
  name: 'KeepAlive',
  summary: 'The host is there; one for each session of the connection',
  messages: ['Heartbeat'],
};

export function asyncApiDocument({ version }: { readonly version: string }): JsonObject {
  const { messages, schemas } = describeMessages();
  return {
    asyncapi: '3.0.0',
    info: documentInfo(version, DESCRIPTION),
    defaultContentType: 'application/json',
    servers: servers(),
    channels: channels(),
    operations: operations(),
    components: {
      messages,
      schemas,
      correlationIds: {
        request: {
          description: 'The request a message belongs to; null in a refusal of what had no id that could be trusted',
          location: '$message.payload#/request_id',
        },
      },
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: BEARER_NOTE },
        subProtocol: {
          type: 'httpApiKey',
          in: 'header',
          name: 'Sec-WebSocket-Protocol',
          description: 'For browsers: the sub-protocols `tool-runtime.v1` and `bearer.` with the token after the dot',
        },
      },
    },
  };
}

function servers(): JsonObject {
  const bearer = { $ref: '#/components/securitySchemes/bearer' };
  return {
    http: { host: DEFAULT_ADDRESS, protocol: 'http', security: [bearer] },
    webSocket: {
      host: DEFAULT_ADDRESS,
      protocol: 'ws',
      security: [bearer, { $ref: '#/components/securitySchemes/subProtocol' }],
    },
    unixSocket: {
      host: '{path}',
      protocol: 'unix',
      description: 'For clients of the same user; the kernel vouches for them. HTTP and WebSocket are spoken here too',
      variables: { path: { description: 'Of the socket, in the state folder of the host', default: 'host.sock' } },
    },
    standardStreams: {
      host: 'localhost',
      protocol: 'stdio',
      description: '`tool-runtime stdio` as a child process; one session, which ends with the input',
    },
  };
}

function channels(): JsonObject {
  return {
    webSocket: {
      address: '/v1/ws',
      title: 'WebSocket',
      description: 'Envelopes as text frames. A host token gets a new session, a session token gets its own.',
      servers: [{ $ref: '#/servers/webSocket' }],
      messages: componentMessages(MESSAGE_NAMES),
      bindings: {
        ws: {
          method: 'GET',
          query: {
            type: 'object',
            properties: { session_id: { type: 'string', description: 'The session to begin with, instead' } },
          },
          bindingVersion: '0.1.0',
        },
      },
    },
    lines: {
      title: 'JSON lines',
      description: 'One envelope a line, UTF-8, ended by a line feed.',
      servers: [{ $ref: '#/servers/unixSocket' }, { $ref: '#/servers/standardStreams' }],
      messages: componentMessages(MESSAGE_NAMES),
    },
    events: {
      address: eventsRoute.path,
      title: 'Server-sent events',
      description: '`id` is the id of the event, `data` the message. Comments come as signs of life.',
      servers: [{ $ref: '#/servers/http' }],
      messages: componentMessages(EVENT_NAMES),
    },
  };
}

function operations(): JsonObject {
  const talk = TALKS.flatMap((channel) => [
    ...QUESTIONS.map((question) => [channel + question.name, receive(channel, question)]),
    ...[GREETING, SIGNS, ANNOUNCEMENT].map((exchange) => [channel + exchange.name, send(channel, exchange)]),
  ]);
  return Object.fromEntries([
    ...talk,
    [`events${ANNOUNCEMENT.name}`, { ...send('events', ANNOUNCEMENT), bindings: { http: eventsBinding() } }],
  ]) as JsonObject;
}

/** The query of the route that serves them, so that it is written once. */
function eventsBinding(): JsonObject {
  const query =
    eventsRoute.query === undefined ? {} : describeSchemas({ query: eventsRoute.query }, String).given.query;
  return { method: 'GET', query, bindingVersion: '0.3.0' };
}

function receive(channel: string, { summary, messages, replies }: Question): JsonObject {
  return {
    action: 'receive',
    channel: { $ref: `#/channels/${channel}` },
    summary,
    messages: channelMessages(channel, messages),
    ...(replies === undefined
      ? {}
      : { reply: { channel: { $ref: `#/channels/${channel}` }, messages: channelMessages(channel, replies) } }),
  };
}

function send(channel: string, { summary, messages }: Exchange): JsonObject {
  return {
    action: 'send',
    channel: { $ref: `#/channels/${channel}` },
    summary,
    messages: channelMessages(channel, messages),
  };
}

function componentMessages(names: readonly string[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/messages/${name}` }]));
}

function channelMessages(channel: string, names: readonly string[]): JsonObject[] {
  return names.map((name) => ({ $ref: `#/channels/${channel}/messages/${name}` }));
}
