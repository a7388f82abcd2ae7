/**
 * One `file_read` of 1 KB, governed and journaled, over every transport, against the same transport that only echoes.
 *
 * Client and server are separate processes; both sides of a pair use the same client, the same libraries and messages of
 * the same size, so that what differs is what the host does. As built, not as source.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBenchRuntime } from '../bench-runtime.ts';
import type { Budget } from '../budget.ts';
import { callPlan, type Group, type GroupOptions, type GroupReport } from '../group.ts';
import { type Case, type Comparison, compare, inFlight, inSequence, moreThan, perRound, timesAs } from '../measure.ts';
import { type Table, tableOf } from '../table.ts';
import { startFilesystemServer } from '../tool-servers.ts';
import { requestWriter } from '../wire/request-text.ts';
import { connectHttp, connectLines, connectWebSocket, type WireClient } from '../wire/wire-client.ts';
import {
  type EchoProcess,
  type HostProcess,
  startEchoOverStdio,
  startEchoProcess,
  startHostOverStdio,
  startHostProcess,
} from '../wire/wire-servers.ts';

const IN_FLIGHT = 32;
const FILE = 'small.txt';
const CONTENT = 'x'.repeat(1023).concat('\n');
const PEER = 'stdio: MCP filesystem server';
/** The same call without any transport, in the process of the client: what is above it is the way there and back. */
const IN_PROCESS = 'in process: file_read 1 KB';

/** The two ends of one transport. HTTP has a connection for each call in flight. */
interface Pair {
  readonly echo: WireClient;
  readonly host: WireClient;
  readonly sessionId: string;
}
type Pairs = ReadonlyMap<string, Pair>;
type Others = Readonly<Record<string, () => Promise<void>>>;

export const transports: Group = {
  name: 'transports',
  summary: 'file_read of 1 KB over each transport against the bare echo of the same transport',
  async run(options) {
    const scratch = mkdtempSync(join(tmpdir(), 'tool-runtime-bench-transports-'));
    const workspace = join(scratch, 'workspace');
    mkdirSync(workspace);
    writeFileSync(join(workspace, FILE), CONTENT);
    const host = await startHostProcess({ workspace, state: join(scratch, 'state') });
    const answer = await sampleAnswer(host);
    const echo = await startEchoProcess(scratch, answer);
    const peer = await startFilesystemServer(workspace);
    const runtime = await openBenchRuntime({ files: { [FILE]: CONTENT } });
    const pairs = await connectAll({ host, echo, answer, workspace, state: join(scratch, 'state-stdio') });
    try {
      const others = {
        [IN_PROCESS]: () => runtime.call('file_read', { path: FILE }),
        [PEER]: () => peer.call('read_text_file', { path: join(workspace, FILE) }),
      };
      return await measureAll(pairs, others, options);
    } finally {
      for (const pair of pairs.values()) await Promise.all([pair.echo.close(), pair.host.close()]);
      for (const server of [host, echo]) server.kill();
      peer.close();
      await runtime.dispose();
      rmSync(scratch, { recursive: true, force: true });
    }
  },
};

/** What the echo answers with: an answer of the host, its id to be filled in. */
async function sampleAnswer({ socket }: HostProcess): Promise<string> {
  const client = await connectLines(socket, { isGreeted: true });
  const answer = await client.ask('sample', requestWriter(client.sessionId, FILE)('sample'));
  await client.close();
  return answer.replace('"request_id":"sample"', '"request_id":"ID"');
}

interface Servers {
  readonly host: HostProcess;
  readonly echo: EchoProcess;
  readonly answer: string;
  readonly workspace: string;
  readonly state: string;
}

async function connectAll({ host, echo, answer, workspace, state }: Servers): Promise<Pairs> {
  const { token } = host;
  const session = await openSession(host);
  const webSocket = async (hostAddress: string, echoAddress: string): Promise<Pair> =>
    greeted(
      await connectWebSocket(echoAddress, { isGreeted: false }),
      await connectWebSocket(hostAddress, { token, isGreeted: true }),
    );
  const http = (socketPath?: { readonly host: string; readonly echo: string }): Pair => ({
    echo: connectHttp(echo.url, {
      connections: IN_FLIGHT,
      ...(socketPath === undefined ? {} : { socketPath: socketPath.echo }),
    }),
    host: connectHttp(host.url, {
      connections: IN_FLIGHT,
      token: session.token,
      ...(socketPath === undefined ? {} : { socketPath: socketPath.host }),
    }),
    sessionId: session.session_id,
  });
  return new Map([
    [
      'Unix lines',
      greeted(
        await connectLines(echo.lines, { isGreeted: false }),
        await connectLines(host.socket, { isGreeted: true }),
      ),
    ],
    ['WebSocket', await webSocket(host.url.replace('http', 'ws'), echo.url.replace('http', 'ws'))],
    ['WebSocket, Unix', await webSocket(`ws+unix:${host.socket}:`, `ws+unix:${echo.http}:`)],
    ['HTTP', http()],
    ['HTTP, Unix', http({ host: host.socket, echo: echo.http })],
    ['stdio', greeted(await startEchoOverStdio(answer), await startHostOverStdio({ workspace, state }))],
  ]);
}

function greeted(echo: WireClient, host: WireClient): Pair {
  return { echo, host, sessionId: host.sessionId };
}

async function openSession({ url, token }: HostProcess): Promise<{ session_id: string; token: string }> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const answer = await fetch(`${url}/v1/sessions`, { method: 'POST', headers, body: '{}' });
  return (await answer.json()) as { session_id: string; token: string };
}

async function measureAll(pairs: Pairs, others: Others, options: GroupOptions): Promise<GroupReport> {
  const plan = callPlan(options);
  const alone = await compare(casesOf(pairs, others, { width: 1 }), plan);
  const crowd = await compare(casesOf(pairs, others, { width: IN_FLIGHT }), plan);
  const tables = [...pairs.keys()].flatMap((name) => [
    tableOfPair(alone, name, 'one call at a time'),
    tableOfPair(crowd, name, `${IN_FLIGHT} calls in flight`),
  ]);
  return { tables, budgets: budgetsOf(pairs, alone, crowd) };
}

function casesOf(pairs: Pairs, others: Others, { width }: { readonly width: number }): Case[] {
  const run = (call: () => Promise<unknown>) => (width === 1 ? inSequence(call) : inFlight(width, call));
  const cases: Case[] = [...pairs].flatMap(([name, { echo, host, sessionId }]) => [
    { name: echoName(name), unit: width, run: run(caller(echo, 'echo')) },
    { name: hostName(name), unit: width, run: run(caller(host, sessionId)) },
  ]);
  return [...cases, ...Object.entries(others).map(([name, call]) => ({ name, unit: width, run: run(call) }))];
}

/** A refusal is fast, so it must not be taken for a figure. */
function caller(client: WireClient, sessionId: string): () => Promise<void> {
  const write = requestWriter(sessionId, FILE);
  const run = Math.random().toString(36).slice(2, 8);
  let count = 0;
  return async () => {
    const requestId = `${run}-${++count}`;
    const answer = await client.ask(requestId, write(requestId));
    if (!answer.includes('"ok":true')) throw new TypeError(`The benchmark was refused: ${answer.slice(0, 300)}`);
  };
}

function echoName(transport: string): string {
  return `${transport}: bare echo`;
}

function hostName(transport: string): string {
  return `${transport}: file_read 1 KB`;
}

function tableOfPair(comparison: Comparison, transport: string, how: string): Table {
  const peers = [echoName(transport), IN_PROCESS, ...(transport === 'stdio' ? [PEER] : [])];
  return tableOf(comparison, { title: `${transport}, ${how}`, peers, names: [...peers, hostName(transport)] });
}

function budgetsOf(pairs: Pairs, alone: Comparison, crowd: Comparison): readonly Budget[] {
  const added = [...pairs.keys()].map((name) => ({
    name: `${name}: added to the bare echo`,
    atMost: 60,
    unit: 'µs',
    ...moreThan(alone, hostName(name), echoName(name)),
  }));
  const ratio = (name: string, atMost: number): Budget => ({
    name: `${name}: times the bare echo`,
    atMost,
    unit: 'x',
    ...timesAs(alone, hostName(name), echoName(name)),
  });
  return [
    ...added,
    ratio('Unix lines', 2.1),
    ratio('HTTP', 1.25),
    ratio('HTTP, Unix', 1.25),
    {
      name: `one WebSocket, ${IN_FLIGHT} calls in flight`,
      atLeast: 15_000,
      unit: 'calls/s',
      ...perRound(crowd, (micros) => 1e6 / micros(hostName('WebSocket'))),
    },
  ];
}
