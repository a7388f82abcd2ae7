/** The kinds of values a registry holds, each with a message that says what to write instead. */
import { isToolError, utf8Length } from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';
import { z } from 'zod';
import { isAddress, isPort, normalHost, splitEntry } from '../egress/domain-entry.ts';
import { compileGlob } from '../glob/match-glob.ts';
import { allowlistPatternProblem, patternProblem } from '../pattern/compile-pattern.ts';

const MAX_COMMAND_BYTES = 8192;

export function checkedText(problemOf: (text: string) => string | undefined): z.ZodString {
  return z.string().superRefine((text, context) => {
    const message = problemOf(text);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });
}

export function shapedText(pattern: RegExp, message: string): z.ZodString {
  return checkedText((text) => (pattern.test(text) ? undefined : message));
}

function globProblem(text: string): string | undefined {
  try {
    compileGlob(text);
    return undefined;
  } catch (thrown) {
    if (!isToolError(thrown)) throw thrown;
    const why = thrown.details['why'];
    return typeof why === 'string' ? `${thrown.message} (${why})` : thrown.message;
  }
}

function domainProblem(text: string): string | undefined {
  const reading = readDomain(text);
  return 'problem' in reading ? reading.problem : undefined;
}

function nameProblem(text: string): string | undefined {
  return /^[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,127}$/.test(text) ? undefined : `Not a plain name: ${safeText(text, 80)}`;
}

/** Commands go through the shell filter later, which accepts one line only. */
function commandProblem(text: string): string | undefined {
  if (text.trim() === '') return 'Command is empty';
  if (utf8Length(text) > MAX_COMMAND_BYTES) return `Command is longer than ${MAX_COMMAND_BYTES} bytes`;
  return /[\u0000-\u001f\u007f]/.test(text) ? `Command is not one plain line: ${safeText(text, 80)}` : undefined;
}

/** The text is not repeated in the message: an operator may have written a secret there by mistake. */
function hashProblem(text: string): string | undefined {
  const isHash = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
  return isHash ? undefined : 'Not a hash: write 40 or 64 hex digits in lower case';
}

/** What a text names. Editors complete it, and check-names.ts refuses what does not exist. */
export const NAMES = 'x-tool-runtime-names';

export const globText = checkedText(globProblem);
export const domainText = checkedText(domainProblem);
export const nameText = checkedText(nameProblem);
export const toolGlob = globText.meta({ [NAMES]: 'tool' });
export const toolName = nameText.meta({ [NAMES]: 'tool' });
export const ruleId = z
  .string()
  .min(1)
  .meta({ [NAMES]: 'rule' });
/** Calls that an entry must let through or refuse. */
export const exampleList = z.array(
  z.strictObject({
    tool: toolName.describe('Tool name'),
    args: z.record(z.string(), z.unknown()).default({}).describe('Arguments of the call'),
  }),
);

export const commandText = checkedText(commandProblem);
export const hashText = checkedText(hashProblem);
export const patternText = checkedText(patternProblem);
export const shellPatternText = checkedText(allowlistPatternProblem);
export const variableName = shapedText(/^[A-Za-z_][A-Za-z0-9_]*$/, 'Not the name of a variable');
export const plainWord = shapedText(
  /^[^\u0000-\u001f\u007f]{1,4096}$/,
  'Not plain text: up to 4096 characters on one line',
);
export const absolutePath = shapedText(
  /^\/[^/\u0000-\u001f\u007f][^\u0000-\u001f\u007f]{0,4094}$/,
  'Not an absolute path',
);
export const milliseconds = z.int().min(1).max(86_400_000);

type DomainReading = { readonly entry: string } | { readonly problem: string };

/**
 * Reads what an operator wrote as an entry of the egress allowlist, or says what is wrong with it.
 *
 * The normal form of one allowlist entry, or what is wrong with it.
 */
export function readDomain(written: string): DomainReading {
  const shown = safeText(written, 80);
  if (written.includes('://')) return { problem: `Domain has a scheme: ${shown} (write the host alone)` };
  if (written.includes('/')) return { problem: `Domain has a path: ${shown} (write the host alone)` };
  if (written.includes('@')) return { problem: `Domain has user information: ${shown} (write the host alone)` };
  const { wildcard, host: writtenHost, port } = splitEntry(written);
  if (writtenHost.includes('*')) {
    return { problem: `Wildcard is only allowed as the first label: ${shown} (write *.example.org)` };
  }
  if (port !== '' && !isPort(port)) return { problem: `Port is not between 1 and 65535: ${shown}` };
  const host = normalHost(writtenHost);
  if (host === undefined) return { problem: `Not a host name or plain address: ${shown}` };
  if (wildcard && isAddress(host)) return { problem: `An address has no subdomains: ${shown}` };
  return { entry: `${wildcard ? '*.' : ''}${host}${port === '' ? '' : `:${port}`}` };
}
