/** A real host on loopback and a Unix socket, in this process, with a scratch workspace and one token per scope. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { createTokenBook } from '../src/auth/tokens.ts';
import { createLog } from '../src/ops/log.ts';
import { type RunningHost, type StartHostOptions, startHost } from '../src/start-host.ts';

export const TOKENS = {
  operator: 'trt_operator_token_for_tests_only_000000000001',
  caller: 'trt_caller_token_for_tests_only_0000000000000002',
  other: 'trt_other_token_for_tests_only_00000000000000003',
  reader: 'trt_reader_token_for_tests_only_0000000000000004',
  approver: 'trt_approver_token_for_tests_only_00000000000005',
  expired: 'trt_expired_token_for_tests_only_000000000000006',
} as const;

const LINES = [
  `${TOKENS.operator} name=operator`,
  `${TOKENS.caller} scopes=read,call name=caller`,
  `${TOKENS.other} scopes=read,call name=other`,
  `${TOKENS.reader} scopes=read name=reader`,
  `${TOKENS.approver} scopes=approve name=approver`,
  `${TOKENS.expired} scopes=read,call name=expired expires=2020-01-01T00:00:00Z`,
];

export interface TestHost extends RunningHost {
  readonly url: string;
  readonly socket: string;
  readonly workspace: string;
  readonly state: string;
  readonly log: PassThrough;
  request(path: string, options?: TestRequest): Promise<Response>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface TestRequest {
  readonly method?: string;
  readonly token?: string | undefined;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

export interface TestHostOptions extends Partial<StartHostOptions> {
  /** Text of the operator's registry. */
  readonly registryText?: string;
  readonly files?: Readonly<Record<string, string>>;
}

export async function openHost({ registryText, files = {}, ...options }: TestHostOptions = {}): Promise<TestHost> {
  const folder = await mkdtemp(join(tmpdir(), 'host-'));
  const [workspace, state] = [join(folder, 'workspace'), join(folder, 'state')];
  await writeFiles(workspace, { 'hello.txt': 'hello\n', ...files });
  const log = new PassThrough().resume();
  const running = await startHost({
    workspaces: [workspace],
    state,
    http: { hostname: '127.0.0.1', port: 0 },
    socket: join(folder, 'host.sock'),
    tokens: createTokenBook({ lines: LINES, now: Date.now }),
    log: createLog({ stream: log, level: 'info', format: 'json' }),
    serverVersion: '0.0.0-test',
    ...options,
    // All tests of one file come from one address.
    limits: { maxAuthFailures: 10_000, ...options.limits },
    runtime: {
      ...(registryText === undefined ? {} : { registry: { text: registryText, file: 'test registry' } }),
      ...options.runtime,
    },
  });
  const url = running.url ?? '';
  return {
    ...running,
    url,
    socket: running.socket ?? '',
    workspace,
    state,
    log,
    request: (path, how = {}) => fetch(`${url}${path}`, fetchOptions(how)),
    async [Symbol.asyncDispose]() {
      await running.stop({ now: true });
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
}

function fetchOptions({ method, token = TOKENS.operator, body, headers = {} }: TestRequest): RequestInit {
  return {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: { ...(token === '' ? {} : { authorization: `Bearer ${token}` }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  };
}
