/**
 * The SDK's server, but for one thing: a request that is out of form is the caller's mistake (-32602). The SDK throws a
 * plain error about it, which it then answers as a fault of the server, with all it knows about its schema.
 */
import {
  type JSONRPCRequest,
  ProtocolError,
  type Result,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';

type Handler = (request: JSONRPCRequest, ctx: ServerContext) => Promise<Result>;

interface Issue {
  readonly path: readonly unknown[];
  readonly message: string;
}

const INVALID_PARAMS = -32_602;
const SHOWN_CHARACTERS = 300;

export class StrictServer extends Server {
  protected override _wrapHandler(method: string, handler: Handler): Handler {
    return super._wrapHandler(method, (request, ctx) => {
      try {
        return handler(request, ctx);
      } catch (thrown) {
        // Handlers fail in their promise; what is thrown at once is about the form of the request.
        const issue = issueIn(thrown);
        throw issue === undefined ? thrown : outOfForm(method, issue);
      }
    });
  }
}

function outOfForm(method: string, { path, message }: Issue): ProtocolError {
  const text = `Invalid ${method} request: ${path.map(String).join('.')}: ${message}`;
  return new ProtocolError(INVALID_PARAMS, text.slice(0, SHOWN_CHARACTERS).toWellFormed());
}

/** The first of the issues that make up the text of an error about a schema; undefined for any other error. */
function issueIn(thrown: unknown): Issue | undefined {
  if (!(thrown instanceof Error) || thrown instanceof ProtocolError) return undefined;
  try {
    const [issue] = JSON.parse(thrown.message) as Partial<Issue>[];
    if (!Array.isArray(issue?.path) || typeof issue.message !== 'string') return undefined;
    return { path: issue.path, message: issue.message };
  } catch {
    return undefined;
  }
}
