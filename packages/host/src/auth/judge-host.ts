/**
 * Which `Host` headers are ours: the guard against DNS rebinding, where a page's own name is made to point at us.
 *
 * Only what is spelled like us passes: `localhost`, the loopback literals and the addresses we listen on, each with our
 * port, and names the operator allows. Other spellings of the same address (decimal, hex, mapped into IPv6) are refused:
 * no client needs them.
 */
import { isIPv4, isIPv6 } from 'node:net';
import { ToolError } from '@tool-runtime/protocol';

export interface HostName {
  /** Lower case, no brackets, no final dot; IPv6 in its shortest form. */
  readonly name: string;
  readonly port: number | undefined;
}

export interface HostRules {
  /** With port, as `formatHost` writes them. */
  readonly own: ReadonlySet<string>;
  /** Then the loopback names are ours with any port: there is none to compare with. */
  readonly isUnix: boolean;
  /** What a Host without a port stands for. */
  readonly defaultPort: number;
  /** As `formatHost` writes them; without a port, any port will do. */
  readonly allowed: ReadonlySet<string>;
}

export const LOOPBACK_NAMES: readonly string[] = ['localhost', '127.0.0.1', '::1'];

const MAX_HOST_LENGTH = 261;
const MAX_NAME_LENGTH = 253;
const PORT = /^(?:0|[1-9]\d{0,4})$/;
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
/** Browsers read a name that ends in a number as an IPv4 address in one of its odd spellings. */
const ENDS_IN_NUMBER = /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/;

/** Undefined for anything but one host name or literal with an optional port. */
export function parseHost(text: string): HostName | undefined {
  const match = text.length > MAX_HOST_LENGTH ? null : /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(\d*))?$/.exec(text);
  const [, written = '', digits] = match ?? [];
  const name = nameOf(written.toLowerCase());
  const port = digits === undefined ? undefined : portOf(digits);
  if (name === undefined || (digits !== undefined && port === undefined)) return undefined;
  return { name, port };
}

/** The refusal, or undefined for a request that is meant for us. */
export function judgeHost(values: readonly string[], rules: HostRules): ToolError | undefined {
  const [value] = values;
  if (value === undefined || values.length > 1) {
    return refused(`Request has ${values.length} Host headers`, 'send exactly one Host header');
  }
  const host = parseHost(value);
  if (host === undefined) return refused('Host header is not a host name', 'send the address the host listens on');
  return isOurs(host, rules)
    ? undefined
    : refused(
        `Host not allowed: ${formatHost(host)}`,
        'use the address the host printed, or start it with this host allowed',
      );
}

export function formatHost({ name, port }: HostName): string {
  const written = name.includes(':') ? `[${name}]` : name;
  return port === undefined ? written : `${written}:${port}`;
}

function isOurs({ name, port }: HostName, rules: HostRules): boolean {
  const full = formatHost({ name, port: port ?? rules.defaultPort });
  if (rules.allowed.has(formatHost({ name, port: undefined })) || rules.allowed.has(full)) return true;
  return rules.isUnix ? LOOPBACK_NAMES.includes(name) : rules.own.has(full);
}

function nameOf(written: string): string | undefined {
  if (written.startsWith('[')) {
    const literal = written.slice(1, -1);
    return isIPv6(literal) ? shortIPv6(literal) : undefined;
  }
  const name = written.endsWith('.') ? written.slice(0, -1) : written;
  if (isIPv4(written)) return written;
  if (ENDS_IN_NUMBER.test(name) || name.length > MAX_NAME_LENGTH) return undefined;
  return name.split('.').every((label) => LABEL.test(label)) ? name : undefined;
}

/** The URL parser knows the one right spelling. */
export function shortIPv6(literal: string): string {
  return new URL(`http://[${literal}]`).hostname.slice(1, -1);
}

function portOf(digits: string): number | undefined {
  const port = Number(digits);
  return PORT.test(digits) && port <= 65_535 ? port : undefined;
}

function refused(message: string, next: string): ToolError {
  return new ToolError('E_POLICY', message, { details: { gate: 'exposure', reason: 'host_not_allowed', next } });
}
