/** What a server complains about, for the log: so many lines a minute, then only their count. */
import type { Log } from '../../ops/log.ts';

const LINES_A_MINUTE = 60;
const MAX_LINE = 1000;
const MINUTE_MS = 60_000;

export type GatewayLog = Pick<Log, 'debug' | 'info' | 'warn'>;

export function stderrLines(server: string, log: GatewayLog, now: () => number = Date.now): (line: string) => void {
  let since = now();
  let written = 0;
  let dropped = 0;
  return (line) => {
    if (now() - since >= MINUTE_MS) {
      if (dropped > 0) log.warn('mcp_server_stderr_dropped', { server, lines: dropped });
      since = now();
      written = 0;
      dropped = 0;
    }
    if (written >= LINES_A_MINUTE) {
      dropped += 1;
      return;
    }
    written += 1;
    log.info('mcp_server_stderr', { server, line: line.slice(0, MAX_LINE) });
    if (written === LINES_A_MINUTE) log.warn('mcp_server_stderr_limit', { server, lines_a_minute: LINES_A_MINUTE });
  };
}
