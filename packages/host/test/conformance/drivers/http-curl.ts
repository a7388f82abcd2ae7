/** HTTP on the Unix socket by the real curl, one process per request; the kernel says who it is. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { openHostStage } from '../host-stage.ts';
import { connectByRequests, type HttpRequest, type HttpWire } from '../request-client.ts';
import type { Transport } from '../transport.ts';
import { HTTP_TRAITS } from './http-traits.ts';

export async function httpCurl(): Promise<Transport> {
  const hostStage = await openHostStage();
  return {
    // Each message is a process.
    traits: { ...HTTP_TRAITS, many: 24, patienceMs: 4000 },
    traffic: hostStage.traffic,
    stage: hostStage.stage,
    lastEventId: hostStage.lastEventId,
    close: hostStage.close,
    connect: (options = {}) =>
      connectByRequests(hostStage, { ...options, token: undefined }, createWire(hostStage.host.socket)),
  };
}

/** Behind the body, where nothing of it can be mistaken for it. */
const STATUS = '\n%{http_code}';

function createWire(socket: string): HttpWire {
  const running = new Set<ChildProcessWithoutNullStreams>();
  function start({ method, path, token, headers = {}, body }: HttpRequest, more: readonly string[]) {
    const words = [
      ...['--silent', '--show-error', '--no-buffer', '--unix-socket', socket, '--request', method],
      ...(token === undefined ? [] : ['--header', `Authorization: Bearer ${token}`]),
      ...Object.entries(headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`]),
      ...(body === undefined ? [] : ['--header', 'Expect:', '--data-binary', '@-']),
      ...more,
      `http://localhost${path}`,
    ];
    const child = spawn('curl', words);
    running.add(child);
    child.once('close', () => running.delete(child));
    // curl may leave before it has read all of a body that is too large.
    child.stdin.on('error', () => {});
    child.stdin.end(body ?? '');
    return child;
  }
  return {
    async ask(request) {
      const child = start(request, ['--write-out', STATUS]);
      const output = await textOf(child);
      const end = output.lastIndexOf('\n');
      return { status: Number(output.slice(end + 1)), text: output.slice(0, end) };
    },
    async follow(request, onText) {
      const child = start(request, ['--include']);
      const { promise, resolve, reject } = Promise.withResolvers<number>();
      let head: string | undefined = '';
      child.once('close', () => reject(new TypeError(`curl ended early: ${head}`)));
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        if (head === undefined) return onText(text);
        head += text;
        const end = head.indexOf('\r\n\r\n');
        if (end === -1) return undefined;
        resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]));
        onText(head.slice(end + 4));
        head = undefined;
        return undefined;
      });
      return { status: await promise, stop: () => void child.kill('SIGKILL') };
    },
    drop() {
      for (const child of running) child.kill('SIGKILL');
    },
  };
}

async function textOf(child: ChildProcessWithoutNullStreams): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of child.stdout) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
