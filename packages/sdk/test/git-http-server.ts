/** `git http-backend` behind a real HTTP server on loopback: the remote of tests that push and fetch over the network. */
import { execFile, spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';

export interface GitHttpServer {
  readonly host: string;
  url(name: string): string;
  /** Authorization headers in the order they came; undefined where there was none. */
  readonly seen: (string | undefined)[];
  close(): Promise<void>;
}

export interface GitHttpOptions {
  /** Folder that holds bare repositories. */
  readonly root: string;
  /** `name:password` every request must bring. */
  readonly login?: string;
  /** Answers every request with a redirect to there instead. */
  readonly redirectTo?: string;
}

export async function startGitHttpServer(options: GitHttpOptions): Promise<GitHttpServer> {
  const { stdout } = await promisify(execFile)('git', ['--exec-path']);
  const seen: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers.authorization);
    if (options.redirectTo !== undefined) {
      response.writeHead(302, { location: `${options.redirectTo}${request.url ?? ''}` }).end();
    } else if (options.login !== undefined && request.headers.authorization !== basic(options.login)) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="test"' }).end();
    } else runBackend(`${stdout.trim()}/git-http-backend`, options.root, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const host = `127.0.0.1:${port}`;
  return {
    host,
    url: (name) => `http://${host}/${name}`,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function basic(login: string): string {
  return `Basic ${Buffer.from(login).toString('base64')}`;
}

function runBackend(program: string, root: string, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', 'http://x');
  const child = spawn(program, {
    env: {
      PATH: process.env['PATH'] ?? '/usr/bin:/bin',
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_CONFIG_COUNT: '2',
      GIT_CONFIG_KEY_0: 'http.receivepack',
      GIT_CONFIG_VALUE_0: 'true',
      GIT_CONFIG_KEY_1: 'safe.directory',
      GIT_CONFIG_VALUE_1: '*',
      PATH_INFO: decodeURIComponent(url.pathname),
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method ?? 'GET',
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      CONTENT_LENGTH: request.headers['content-length'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      REMOTE_ADDR: '127.0.0.1',
    },
  });
  request.pipe(child.stdin);
  child.stdin.on('error', () => {});
  let head = Buffer.alloc(0);
  let isStarted = false;
  child.stdout.on('data', (chunk: Buffer) => {
    if (isStarted) return void response.write(chunk);
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return;
    isStarted = true;
    const headers = head
      .toString('latin1', 0, end)
      .split('\r\n')
      .map((line) => line.split(': ') as [string, string]);
    const status = Number(headers.find(([name]) => name === 'Status')?.[1]?.slice(0, 3) ?? 200);
    response.writeHead(status, Object.fromEntries(headers.filter(([name]) => name !== 'Status')));
    response.write(head.subarray(end + 4));
  });
  child.stdout.on('close', () => response.end());
}
