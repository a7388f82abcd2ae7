/** The five ways in: three transports, MCP, and a child of a session. */
import type { Pool } from 'undici';
import type { CallBook } from '../../../packages/host/test/load/call-book.ts';
import { type LoadClient, OPENERS, type ServeAddress } from '../../../packages/host/test/load/load-clients.ts';
import type { Caller } from '../calls/call-maker.ts';
import { openChildClient } from './child-client.ts';
import { openMcp } from './mcp-client.ts';

export const WAYS = ['websocket', 'http', 'lines', 'mcp', 'child'] as const;
export type Way = (typeof WAYS)[number];

export interface ChaosClient extends LoadClient, Caller {
  readonly site: string;
  inFlight: number;
  /** Gets no more calls. */
  isLeaving: boolean;
}

export interface OpenOptions {
  readonly way: Way;
  readonly site: string;
  readonly book: CallBook;
  readonly serve: ServeAddress;
  readonly pool: Pool;
  readonly wantsEvents: boolean;
}

export async function openClient(options: OpenOptions): Promise<ChaosClient> {
  const client = await openWay(options);
  return {
    ...client,
    site: options.site,
    isChild: options.way === 'child',
    jobs: [],
    artifacts: [],
    inFlight: 0,
    isLeaving: false,
  };
}

function openWay({ way, site: workspace, book, serve, pool, wantsEvents }: OpenOptions): Promise<LoadClient> {
  if (way === 'mcp') return openMcp({ book, serve, workspace });
  if (way === 'child') return openChildClient({ book, serve, workspace });
  return OPENERS[way]({ book, serve, pool, wantsEvents, workspace });
}
