/**
 * A program of its own, run in the sandbox: listens on a loopback port, passes every connection on to the proxy's Unix
 * socket, and runs the command it is given until that ends.
 *
 * Arguments: socket, port, program, its arguments. It imports nothing of ours: only this one file is mounted.
 */
import { spawn } from 'node:child_process';
import { connect, createServer } from 'node:net';

const [socket = '', port = '', program = '', ...args] = process.argv.slice(2);

const server = createServer({ allowHalfOpen: true }, (client) => {
  const proxy = connect({ path: socket, allowHalfOpen: true });
  const drop = (): void => {
    client.destroy();
    proxy.destroy();
  };
  client.on('error', drop).pipe(proxy).on('error', drop).pipe(client);
});

server.listen(Number(port), '127.0.0.1', () => {
  const command = spawn(program, args, { stdio: 'inherit', argv0: program });
  command.on('error', () => process.exit(127));
  command.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    // Ends as the command did, so that the process that started us sees the same.
    process.kill(process.pid, signal);
    setTimeout(() => process.exit(1), 1000);
  });
});
