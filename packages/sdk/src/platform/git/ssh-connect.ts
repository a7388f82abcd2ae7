/**
 * A program of its own, run by ssh in the sandbox: connects standard input and output with a host through the egress
 * proxy.
 *
 * Arguments: host, port. It imports nothing of ours: only this one file is copied.
 */
import { connect, type Socket } from 'node:net';

const [host = '', port = ''] = process.argv.slice(2);
const MAX_HEAD = 16_384;

function fail(words: string): void {
  process.stderr.write(words, () => process.exit(1));
}

/** Resolves with the bytes after the head of a successful answer. A refusal becomes an error with its text. */
function openTunnel(socket: Socket): Promise<Buffer> {
  return new Promise((resolve) => {
    let head: Buffer = Buffer.alloc(0);
    const onData = (chunk: Buffer): void => {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf('\r\n\r\n');
      if (end < 0 && head.length <= MAX_HEAD) return;
      if (!/^HTTP\/1\.[01] 200 /.test(head.toString('latin1', 0, MAX_HEAD))) return;
      socket.off('data', onData).off('end', onEnd);
      resolve(head.subarray(end + 4));
    };
    const onEnd = (): void => fail(head.toString('utf8', head.indexOf('\r\n\r\n') + 4));
    socket.on('data', onData).on('end', onEnd);
  });
}

const proxy = new URL(process.env['http_proxy'] ?? 'http://127.0.0.1:3128');
const target = `${host}:${port}`;
const socket = connect(Number(proxy.port), proxy.hostname).on('error', () => fail('the proxy cannot be reached\n'));
socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`);
process.stdout.write(await openTunnel(socket));
process.stdin.pipe(socket).pipe(process.stdout);
