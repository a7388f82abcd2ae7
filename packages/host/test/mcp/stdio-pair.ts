/** The same workspace served twice over streams: with our codec and with the library's own. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { createRuntime, defineTool } from '@tool-runtime/sdk';
import { z } from 'zod';
import { resolveProfile } from '../../src/mcp/profiles/profiles.ts';
import { createMcpServer } from '../../src/mcp/server/create-mcp-server.ts';
import { FrameTransport } from '../../src/mcp/server/frame-transport.ts';
import { createLocalBackend, type LocalBackend } from '../../src/mcp/server/local-backend.ts';
import { serveOn } from '../../src/mcp/server/serve-stdio.ts';
import { createApprovalDesk } from '../../src/sessions/approval-desk.ts';

export type Message = Readonly<Record<string, unknown>>;

export interface Line {
  send(message: unknown): void;
  sendText(text: string): void;
  /** Resolves with the next message that fits. */
  next(fits: (message: Message) => boolean): Promise<Message>;
  /** Everything that came, in order. */
  readonly messages: readonly Message[];
  readonly chunks: number;
  readonly backend: LocalBackend;
  /** How often the slow tool was begun. */
  readonly runs: { begun: number; cancelled: number };
  close(): Promise<void>;
}

export interface Pair {
  readonly own: Line;
  readonly sdk: Line;
  readonly workspace: string;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function openPair(registryText = 'version: 1\n'): Promise<Pair> {
  const root = mkdtempSync(join(tmpdir(), 'tool-runtime-mcp-pair-'));
  const workspace = join(root, 'workspace');
  mkdirSync(workspace);
  writeFileSync(join(workspace, 'small.txt'), 'hello ☃ "quoted" \\ \u2028\n');
  writeFileSync(join(workspace, 'large.txt'), 'a line with "quotes" and ümlauts\n'.repeat(20_000));
  writeFileSync(join(root, 'registry.yaml'), registryText);
  const place = (name: string) => ({ workspace, state: join(root, name), registry: join(root, 'registry.yaml') });
  const own = await openLine(place('own'), 'own');
  const sdk = await openLine(place('sdk'), 'sdk');
  return {
    own,
    sdk,
    workspace,
    async [Symbol.asyncDispose]() {
      await own.close();
      await sdk.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

interface Place {
  readonly workspace: string;
  readonly state: string;
  readonly registry: string;
}

/** Takes at once what is written together, as the pipe of a process does. */
class Pipe extends PassThrough {
  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: () => void): void {
    this.push(Buffer.concat(chunks.map(({ chunk }) => chunk)));
    done();
  }
}

async function openLine(place: Place, side: 'own' | 'sdk'): Promise<Line> {
  const runs = { begun: 0, cancelled: 0 };
  const approvals = createApprovalDesk({ now: Date.now });
  const runtime = await createRuntime({ ...place, approvals, tools: [slowTool(runs), pictureTool] });
  const backend = createLocalBackend({
    runtime: async () => runtime,
    approvals,
    profile: resolveProfile({ profile: 'full' }),
    serverVersion: '1.2.3',
  });
  const input = new PassThrough();
  const output = new Pipe();
  const transport = side === 'own' ? new FrameTransport(input, output) : new StdioServerTransport(input, output);
  const serve = () => (transport instanceof FrameTransport ? serveOn(transport, backend) : createMcpServer(backend));
  const served = serveStdio(serve, { transport });
  const seen = watch(output);
  return {
    ...seen,
    get chunks() {
      return seen.count.chunks;
    },
    backend,
    runs,
    send: (message) => void input.write(`${JSON.stringify(message)}\n`),
    sendText: (text) => void input.write(text),
    async close() {
      await served.close();
      await backend.close();
      await runtime.close();
    },
  };
}

function watch(output: PassThrough) {
  const messages: Message[] = [];
  const count = { chunks: 0 };
  const waiting = new Set<() => void>();
  let rest = '';
  output.setEncoding('utf8').on('data', (text: string) => {
    count.chunks += 1;
    const lines = `${rest}${text}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) messages.push(JSON.parse(line) as Message);
    for (const look of [...waiting]) look();
  });
  let passed = 0;
  return {
    messages,
    count,
    next(fits: (message: Message) => boolean): Promise<Message> {
      return new Promise((resolve) => {
        const look = (): void => {
          const found = messages.findIndex((message, at) => at >= passed && fits(message));
          if (found < 0) return;
          waiting.delete(look);
          resolve(messages[found] as Message);
        };
        waiting.add(look);
        look();
      });
    },
    /** Later calls of `next` look only at what comes from now on. */
    forget(): void {
      passed = messages.length;
    },
  };
}

/** Answers as a foreign server would. */
const pictureTool = defineTool({
  name: 'picture',
  category: 'test',
  title: 'Show a picture',
  summary: 'Answer with content of its own',
  args: z.strictObject({}),
  data: z.strictObject({ content: z.array(z.record(z.string(), z.string())) }),
  annotations: { kind: 'think', side_effect_level: 'none' },
  effect: 'read',
  risk: 'low',
  idempotent: true,
  timeoutMs: 60_000,
  run: () => ({ content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }] }),
});

function slowTool(runs: { begun: number; cancelled: number }) {
  return defineTool({
    name: 'slow',
    category: 'test',
    title: 'Be slow',
    summary: 'Answer when cancelled',
    args: z.strictObject({ word: z.string().optional() }),
    data: z.strictObject({ done: z.boolean() }),
    annotations: { kind: 'think', side_effect_level: 'none' },
    effect: 'read',
    risk: 'low',
    idempotent: true,
    timeoutMs: 60_000,
    run: (_args, { signal }) => {
      runs.begun += 1;
      return new Promise<{ done: boolean }>((_resolve, reject) => {
        const stop = (): void => {
          runs.cancelled += 1;
          reject(signal.reason);
        };
        if (signal.aborted) stop();
        else signal.addEventListener('abort', stop, { once: true });
      });
    },
  });
}
