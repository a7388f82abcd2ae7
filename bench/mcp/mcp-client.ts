/**
 * An MCP client over the pipes of a program, thin enough that the program is what is timed: answers are told apart by
 * their id and looked through for an error, not parsed.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';

export type McpFamily = '2025' | '2026';

export interface McpProgram {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly family: McpFamily;
}

export interface McpClient {
  call(tool: string, args: object): Promise<void>;
  /** The answer to any request, as text. */
  ask(method: string, params: object): Promise<string>;
  /** Kilobytes of memory that belong to the program. */
  memory(): number;
  close(): void;
}

const CLIENT = { name: 'bench', version: '1' };
const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': CLIENT,
  'io.modelcontextprotocol/clientCapabilities': {},
};
/** Ids are at the beginning or at the end of an answer. */
const EDGE = 64;
const ID = /"id":(\d+)/;

type Ask = (method: string, params: object) => Promise<Buffer>;

/** Resolves when the opening has been answered. */
export async function startMcpClient({ args, cwd, family }: McpProgram): Promise<McpClient> {
  const child = spawn(process.execPath, args, { cwd, stdio: ['pipe', 'pipe', 'ignore'] });
  const ask = talk(child, family);
  if (family === '2026') await ask('server/discover', {});
  else {
    await ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: CLIENT });
    child.stdin?.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  }
  return {
    async call(name, given) {
      const answer = await ask('tools/call', { name, arguments: given });
      // A refusal is fast, so it must not be taken for a figure.
      if (answer.includes('"isError":true') || answer.includes('"error":{')) {
        throw new TypeError(`The benchmark was refused: ${name}: ${answer.subarray(0, 300)}`);
      }
    },
    ask: async (method, params) => (await ask(method, params)).toString('utf8'),
    memory: () => Number(execFileSync('ps', ['-o', 'rss=', '-p', String(child.pid)], { encoding: 'utf8' })),
    close: () => void child.kill('SIGKILL'),
  };
}

function talk(child: ChildProcess, family: McpFamily): Ask {
  const waiting = new Map<string, { resolve(line: Buffer): void; reject(thrown: unknown): void }>();
  let parts: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      const line = Buffer.concat([...parts, chunk.subarray(from, end)]);
      parts = [];
      from = end + 1;
      const id = idOf(line);
      waiting.get(id)?.resolve(line);
      waiting.delete(id);
    }
    if (from < chunk.length) parts.push(chunk.subarray(from));
  });
  child.on('exit', (code) => {
    for (const { reject } of waiting.values()) reject(new TypeError(`The program ended with ${code}`));
  });
  let count = 0;
  return (method, params) =>
    new Promise((resolve, reject) => {
      const id = ++count;
      waiting.set(String(id), { resolve, reject });
      const whole = family === '2025' ? params : { ...params, _meta: ENVELOPE };
      child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params: whole })}\n`);
    });
}

function idOf(line: Buffer): string {
  const edges = [line.subarray(0, EDGE), line.subarray(-EDGE)];
  return edges.map((edge) => ID.exec(edge.toString('latin1'))?.[1]).find((id) => id !== undefined) ?? '';
}
