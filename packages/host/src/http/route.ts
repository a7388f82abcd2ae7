/** What a file in `routes/` exports. The same definition serves requests and writes the OpenAPI document. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Scope } from '@tool-runtime/protocol';
import type { ToolListing } from '@tool-runtime/sdk';
import type { z } from 'zod';
import type { Principal } from '../auth/principal.ts';
import type { Host } from '../sessions/create-host.ts';

/** What a host says about its own interface. */
export interface Documents {
  /** JSON texts. */
  openApi(): string;
  /** With the schemas of these tools. */
  openApiFor(tools: readonly ToolListing[]): string;
  asyncApi(): string;
}

export interface RouteCall<Query = unknown, Body = unknown> {
  readonly host: Host;
  /** Undefined only on routes without a scope. */
  readonly principal: Principal;
  /** For answers that stay open: whether what the client came with still counts. */
  readonly isWelcome: () => boolean;
  /** Whether the request comes from a page that this host served. */
  readonly isOwnPage: () => boolean;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly documents: Documents;
}

/** `sent`: the route has written to `outgoing` itself. */
export type RouteAnswer =
  | { readonly status: number; readonly json?: unknown; readonly text?: string; readonly type?: string }
  | 'sent';

export interface AnswerDoc {
  readonly description: string;
  /** For a refusal it goes without saying: ErrorMessage. */
  readonly schema?: z.ZodType;
  /** When it is not JSON. */
  readonly type?: string;
  /** For a stream: what the data of its events may be, beside what the description says. */
  readonly data?: z.ZodType;
}

export interface Route<Query extends z.ZodType = z.ZodType, Body extends z.ZodType = z.ZodType> {
  readonly id: string;
  readonly method: 'get' | 'post' | 'delete';
  /** `{name}` marks a parameter. */
  readonly path: string;
  readonly summary: string;
  /** What the summary has no room for. */
  readonly description?: string;
  /** What a token needs; `open` needs no token at all. */
  readonly scope: Scope | 'open' | 'any';
  /** About the whole host: not for the token of one session, nor for a caller that is bound to one workspace. */
  readonly isHostWide?: boolean;
  /** Answers from one workspace (`host.workspaceFor`), so a caller that is bound to one may ask. */
  readonly isOfWorkspace?: boolean;
  readonly query?: Query;
  /** Read, bounded and checked before `handle`. An envelope route reads its text itself, to refuse it by its own rules. */
  readonly body?: Body;
  /** The envelopes a route takes that reads its text itself. Described, not applied. */
  readonly envelope?: z.ZodType;
  /** Request headers that the route looks at, and what they mean. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Refusals that any such route has (400, 401, 403, 413, 429, 500, and 404 for one with parameters) need no mention. */
  readonly answers: Readonly<Record<number, AnswerDoc>>;
  handle(call: RouteCall<z.infer<Query>, z.infer<Body>>): Promise<RouteAnswer> | RouteAnswer;
}

export type AnyRoute = Route;

/** What serves `/mcp`: MCP has methods, bodies and errors of its own, and streams its answers. */
export interface McpEndpoint {
  /** The principal is proven already. */
  fetch(request: Request, principal: Principal): Promise<Response>;
  close(): Promise<void>;
}

/** Keeps the types of query and body for `handle`; the catalog holds all routes as one type. */
export function defineRoute<Query extends z.ZodType, Body extends z.ZodType>(route: Route<Query, Body>): AnyRoute {
  return route as unknown as AnyRoute;
}
