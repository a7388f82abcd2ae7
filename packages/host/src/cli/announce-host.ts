/** What a started host prints: where it listens, its token if that is wanted, and three commands to try. */
import { printJson, printLine } from '../terminal/terminal.ts';

export interface HostPlaces {
  readonly url: string | undefined;
  readonly socket: string | undefined;
  readonly tokenFile: string;
  /** Only when it may be shown. */
  readonly token: string | undefined;
}

export interface AnnounceOptions {
  readonly json: boolean;
  /** Options that name this host to other commands, such as `--state DIR`. */
  readonly named: string;
}

export function announceHost(places: HostPlaces, { json, named }: AnnounceOptions): void {
  const { url, socket, tokenFile, token } = places;
  if (json) {
    printJson({ url, socket, token_file: tokenFile, token, pid: process.pid }, { compact: true });
    return;
  }
  if (url !== undefined) printLine(`listening  ${url}`);
  if (socket !== undefined) printLine(`socket     ${socket}`);
  printLine(`token      ${token ?? `in ${tokenFile}`}`);
  printLine('try');
  for (const line of commandsToTry(places, named)) printLine(`  ${line}`);
}

function commandsToTry({ url, socket, tokenFile }: HostPlaces, named: string): readonly string[] {
  const curl =
    socket === undefined
      ? `curl -s -H "Authorization: Bearer $(head -n1 ${tokenFile})" ${url}`
      : `curl -s --unix-socket ${socket} http://localhost`;
  return [`${curl}/v1/sessions -d '{}'`, `${curl}/v1/tools`, `npx tool-runtime status${named}`];
}
