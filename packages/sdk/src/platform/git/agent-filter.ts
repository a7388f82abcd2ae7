/**
 * A socket in front of the operator's ssh agent that lets one use through: listing keys and signing what `maySign` accepts.
 *
 * Everything else an agent can do (adding and removing keys, extensions, locking) is answered with a failure here.
 */
import { connect, createServer, type Socket } from 'node:net';

export interface AgentFilterOptions {
  /** Where to listen; the folder is private to this user. */
  readonly socket: string;
  /** The operator's agent. */
  readonly agent: string;
  /** Told the data to be signed. */
  maySign(data: Buffer): boolean;
}

export interface AgentFilter {
  close(): Promise<void>;
}

const REQUEST_IDENTITIES = 11;
const SIGN_REQUEST = 13;
const FAILURE = Buffer.from([0, 0, 0, 1, 5]);
const MAX_MESSAGE = 256 * 1024;

export async function openAgentFilter({ socket, agent, maySign }: AgentFilterOptions): Promise<AgentFilter> {
  const open = new Set<Socket>();
  const track = (one: Socket): void => {
    open.add(one);
    one.once('close', () => open.delete(one));
  };
  const server = createServer((client) => {
    const upstream = connect(agent);
    for (const one of [client, upstream]) track(one);
    const drop = (): void => {
      client.destroy();
      upstream.destroy();
    };
    client.on('error', drop).once('close', drop);
    upstream.on('error', drop).once('close', drop);
    upstream.pipe(client);
    client.on(
      'data',
      messageReader(drop, (message) => {
        if (isAllowed(message, maySign)) upstream.write(message);
        else client.write(FAILURE);
      }),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(socket, () => resolve());
    server.unref();
  });
  return {
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const one of open) one.destroy();
      await closed;
    },
  };
}

/** Whole messages, length included. One that is too long ends the talk. */
function messageReader(drop: () => void, onMessage: (message: Buffer) => void): (chunk: Buffer) => void {
  let kept: Buffer = Buffer.alloc(0);
  return (chunk) => {
    kept = Buffer.concat([kept, chunk]);
    while (kept.length >= 4) {
      const length = kept.readUInt32BE(0);
      if (length === 0 || length > MAX_MESSAGE) return drop();
      if (kept.length < 4 + length) return;
      onMessage(kept.subarray(0, 4 + length));
      kept = kept.subarray(4 + length);
    }
  };
}

function isAllowed(message: Buffer, maySign: AgentFilterOptions['maySign']): boolean {
  const type = message[4];
  if (type === REQUEST_IDENTITIES) return message.length === 5;
  if (type !== SIGN_REQUEST) return false;
  const [, data] = readStrings(message.subarray(5), 2) ?? [];
  return data !== undefined && maySign(data);
}

/** The first strings of a message as the protocol writes them; undefined when it is cut short. */
function readStrings(bytes: Buffer, count: number): readonly Buffer[] | undefined {
  const found: Buffer[] = [];
  let at = 0;
  while (found.length < count) {
    if (bytes.length < at + 4) return undefined;
    const end = at + 4 + bytes.readUInt32BE(at);
    if (bytes.length < end) return undefined;
    found.push(bytes.subarray(at + 4, end));
    at = end;
  }
  return found;
}

const USERAUTH_REQUEST = 50;
const HOST_BOUND = 'publickey-hostbound-v00@openssh.com';

/** A login as this user by ssh; where the data name the host's key, it must be one of these. */
export function isLogin(
  data: Buffer,
  { user, keys }: { readonly user: string; readonly keys: readonly Buffer[] },
): boolean {
  const [session] = readStrings(data, 1) ?? [];
  if (session === undefined || data[4 + session.length] !== USERAUTH_REQUEST) return false;
  const rest = data.subarray(4 + session.length + 1);
  const [name, service, method] = (readStrings(rest, 3) ?? []).map((one) => one.toString('utf8'));
  if (name !== user || service !== 'ssh-connection') return false;
  if (method === 'publickey') return true;
  if (method !== HOST_BOUND) return false;
  const after = rest.subarray(3 * 4 + name.length + service.length + method.length + 1);
  const hostKey = readStrings(after, 3)?.[2];
  return hostKey !== undefined && keys.some((key) => key.equals(hostKey));
}

/** A signature for git, as `ssh-keygen -Y sign -n git` asks for it. */
export function isGitSignature(data: Buffer): boolean {
  if (data.subarray(0, 6).toString('latin1') !== 'SSHSIG') return false;
  return readStrings(data.subarray(6), 1)?.[0]?.toString('latin1') === 'git';
}
