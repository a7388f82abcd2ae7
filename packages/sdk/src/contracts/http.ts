/** The network capability given to tools: every hop is judged by the registry before a packet leaves. */

export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | null;
  readonly timeoutMs: number;
  /** Bytes of the (decoded) body to hand back. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal;
}

export interface HttpAnswer {
  readonly status: number;
  /** Lower-case names; repeated headers joined as HTTP allows. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly truncated: boolean;
  /** Where the answer came from, after redirects. */
  readonly url: string;
  readonly redirects: readonly string[];
}

/** Throws E_POLICY for a target the registry does not allow, E_HTTP when the exchange fails, E_TIMEOUT at the deadline. */
export interface HttpClient {
  send(request: HttpRequest): Promise<HttpAnswer>;
}

/** The client as its owner holds it. */
export interface OpenHttpClient extends HttpClient {
  /** Drops kept connections, and breaks off what is still running. */
  close(): void;
}
