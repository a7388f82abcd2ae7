/** Hostile and broken clients, all at once, until they are stopped. Their answers are ignored. */
import { randomBytes } from 'node:crypto';
import { connect, type NetConnectOpts, type Socket } from 'node:net';
import { writeHead } from '../wire/raw-http.ts';
import { writeFrame } from '../wire/raw-web-socket.ts';
import { FOREIGN } from './check-journal.ts';
import { sourceName } from './lane-files.ts';
import type { ServeProcess } from './serve-process.ts';

const SLOW_READERS = 8;
const UNREAD_CALLS = 2000;
const HALF_OPEN = 200;
const FLOOD_WIDTH = 8;
const CONNECTS = 3000;

export interface HostileReport {
  garbage: number;
  connects: number;
  readonly held: number;
}

export async function sendHostileCrowd(serve: ServeProcess, isOver: () => boolean): Promise<HostileReport> {
  const ways: readonly NetConnectOpts[] = [
    { host: '127.0.0.1', port: Number(new URL(serve.url).port) },
    { path: serve.socket },
  ];
  const report: HostileReport = { garbage: 0, connects: 0, held: 2 * SLOW_READERS + HALF_OPEN };
  const held: Socket[] = [];
  for (let index = 0; index < SLOW_READERS; index++) {
    held.push(readNothingFromFrames(serve, ways[0] as NetConnectOpts), readNothingFromLines(ways[1] as NetConnectOpts));
  }
  for (let index = 0; index < HALF_OPEN; index++) held.push(holdHalfOpen(serve, ways, index));
  await Promise.all([floodWithGarbage(ways, isOver, report), floodWithConnects(ways, isOver, report)]);
  for (const socket of held) socket.destroy();
  return report;
}

function open(way: NetConnectOpts): Socket {
  return connect(way).on('error', () => {});
}

function callText(sessionId: string, index: number): string {
  const path = sourceName(0);
  const ids = { request_id: `${FOREIGN}${index}`, session_id: sessionId };
  return JSON.stringify({ type: 'ToolRequest', tool: 'file_read', args: { path }, ...ids, timestamp: 0 });
}

/** Learns its session from the greeting, asks for much, and does not read on. */
function readNothing(socket: Socket, ask: (sessionId: string) => void): Socket {
  let greeting = '';
  socket.on('data', (chunk: Buffer) => {
    greeting += chunk.toString('latin1');
    const sessionId = /"session_id":"([^"]+)"/.exec(greeting)?.[1];
    if (sessionId === undefined) return;
    socket.pause();
    socket.removeAllListeners('data');
    ask(sessionId);
  });
  return socket;
}

function readNothingFromFrames({ token }: ServeProcess, way: NetConnectOpts): Socket {
  const socket = open(way);
  socket.write(upgradeHead(token));
  return readNothing(socket, (sessionId) => {
    for (let index = 0; index < UNREAD_CALLS; index++) socket.write(writeFrame(callText(sessionId, index)));
  });
}

function readNothingFromLines(way: NetConnectOpts): Socket {
  const socket = open(way);
  return readNothing(socket, (sessionId) => {
    for (let index = 0; index < UNREAD_CALLS; index++) socket.write(`${callText(sessionId, index)}\n`);
  });
}

function upgradeHead(token: string): string {
  const key = randomBytes(16).toString('base64');
  const headers = [
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${key}`,
  ];
  return writeHead({ target: '/v1/ws', token, headers });
}

/** Begins something and never ends it. */
function holdHalfOpen({ token }: ServeProcess, ways: readonly NetConnectOpts[], index: number): Socket {
  const beginnings = [
    '',
    'POST /v1/call HTTP/1.1\r\nHost: local',
    writeHead({ method: 'POST', target: '/v1/call', token, headers: ['Content-Length: 1000000'] }).concat('{"type":'),
    upgradeHead(token).concat(writeFrame('{"type":"Heartbeat"', { length: 5000 }).toString('latin1')),
    '{"type":"ToolRequest","tool":',
  ];
  const socket = open(ways[index % ways.length] as NetConnectOpts);
  socket.resume();
  socket.write(Buffer.from(beginnings[index % beginnings.length] ?? '', 'latin1'));
  return socket;
}

async function floodWithGarbage(
  ways: readonly NetConnectOpts[],
  isOver: () => boolean,
  report: HostileReport,
): Promise<void> {
  const flood = async (lane: number): Promise<void> => {
    while (!isOver()) {
      const socket = open(ways[lane % ways.length] as NetConnectOpts).resume();
      // What begins with a brace is taken for lines; the rest is for the HTTP parser to refuse.
      const first = lane % 3 === 0 ? '{' : '';
      socket.end(Buffer.concat([Buffer.from(first), randomBytes(16 * 1024)]));
      report.garbage += 1;
      await closed(socket);
    }
  };
  await Promise.all(Array.from({ length: FLOOD_WIDTH }, (_, lane) => flood(lane)));
}

async function floodWithConnects(
  ways: readonly NetConnectOpts[],
  isOver: () => boolean,
  report: HostileReport,
): Promise<void> {
  const lanes = Array.from({ length: 100 }, async (_, lane) => {
    while (report.connects < CONNECTS || !isOver()) {
      report.connects += 1;
      const socket = open(ways[lane % ways.length] as NetConnectOpts);
      await new Promise<void>((resolve) => {
        socket.once('connect', resolve);
        socket.once('close', resolve);
      });
      socket.destroy();
    }
  });
  await Promise.all(lanes);
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()));
}
