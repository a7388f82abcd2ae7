/**
 * What a person who is asked reads of a call: the diff of what it writes, the arguments and the folder of a command, the
 * address of a request.
 *
 * The diff comes from a rehearsal, which changes nothing. A call that cannot be rehearsed is shown by its arguments alone.
 */
import type { ApprovalEffect } from '../../contracts/policy.ts';
import { lineDiff } from '../../text/line-diff.ts';
import type { JudgedCall } from '../state/call-types.ts';
import type { SessionParts } from '../state/session-parts.ts';
import { settle } from '../state/settle.ts';
import { commandText } from './asked-call.ts';
import { RehearsedCall } from './rehearsal-context.ts';

/** Characters of an effect; what is longer is cut, and says so. */
const MAX_EFFECT = 8000;
const MAX_FILE_BYTES = 1024 * 1024;

export async function effectOf(call: JudgedCall, parts: SessionParts): Promise<ApprovalEffect | undefined> {
  const { subject } = call;
  if (subject.commands.length > 0) return cut('command', commandText(call, parts));
  if (subject.urls.length > 0) return cut('request', requestText(call, parts));
  const { rehearse = 'none' } = call.compiled.tool;
  if (rehearse === 'none' || call.mutationClass === 'read_only' || subject.profile.effect !== 'write') return undefined;
  const shown = await settle(async () => call.open.time.wait('rehearsal', () => diffText(call, parts)));
  return shown.ok && shown.value !== '' ? cut('diff', parts.redact(shown.value)) : undefined;
}

function cut(kind: ApprovalEffect['kind'], text: string): ApprovalEffect {
  if (text.length <= MAX_EFFECT) return { kind, text };
  return { kind, text: `${text.slice(0, MAX_EFFECT)}\n[cut: ${text.length - MAX_EFFECT} more characters]` };
}

function requestText({ subject }: JudgedCall, { redact }: SessionParts): string {
  const { method } = subject.args;
  const verb = typeof method === 'string' ? `${method} ` : '';
  return subject.urls.map(({ value }) => `${verb}${redact(value)}`).join('\n');
}

async function diffText(call: JudgedCall, parts: SessionParts): Promise<string> {
  const { tool } = call.compiled;
  const written = new Map<string, Uint8Array | null>();
  const context = new RehearsedCall(call, parts, (path, bytes) => written.set(path, bytes));
  const { args } = call.subject;
  // Failing halfway, it still has shown what it was about to write.
  await settle(async () =>
    typeof tool.rehearse === 'function' ? tool.rehearse(args, context) : tool.run(args, context),
  );
  const diffs: string[] = [];
  for (const [path, bytes] of written) {
    const before = await settle(async () => call.workspace.readFile(path, { maxBytes: MAX_FILE_BYTES }));
    diffs.push(fileDiff(path, before.ok ? before.value.bytes : undefined, bytes));
  }
  return diffs.join('\n');
}

function fileDiff(path: string, before: Uint8Array | undefined, after: Uint8Array | null): string {
  const head = `--- ${before === undefined ? '/dev/null' : path}\n+++ ${after === null ? '/dev/null' : path}`;
  const [old, now] = [Buffer.from(before ?? []), Buffer.from(after ?? [])];
  if (old.includes(0) || now.includes(0)) return `${head}\nbinary: ${old.length} bytes before, ${now.length} after`;
  return `${head}\n${lineDiff(old.toString('utf8'), now.toString('utf8')).trimEnd()}`;
}
