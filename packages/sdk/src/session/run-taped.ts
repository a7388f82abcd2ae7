/** The one place where a cassette meets calls: it records what a call came to, or has it answered from the record. */
import type { EventMessage, JsonObject, JsonValue, ToolResponse } from '@tool-runtime/protocol';
import { isJsonObject } from '@tool-runtime/protocol/internal';
import { recordedContent } from '../call/answer-taped.ts';
import { runCall } from '../call/pipeline.ts';
import type { CallRequest } from '../call/state/call-types.ts';
import type { SessionParts } from '../call/state/session-parts.ts';
import { settle } from '../call/state/settle.ts';
import { jsonOf } from '../cassette/json-of.ts';
import type { PathChange, PathState } from '../changes/change-set.ts';
import { completeAnnotations } from '../contracts/annotations.ts';
import type { LiveCall, RecordedContent, RecordedFile } from '../contracts/cassette.ts';
import { policyDenial } from '../contracts/failures.ts';
import { shownArgs } from '../redaction/call-args.ts';
import { mapTexts } from '../redaction/known-values.ts';
import { redactEntry } from '../redaction/redact-error.ts';
import { runJoined } from './requests.ts';

type OnOpen = Parameters<typeof runCall>[2];

const MAX_CONTENT = 1024 * 1024;

export async function runTaped(request: CallRequest, parts: SessionParts, onOpen: OnOpen): Promise<ToolResponse> {
  const { cassette, sessionId, redact } = parts;
  if (cassette === undefined) return runJoined(request, parts, onOpen);
  const turn = cassette.take({ sessionId, tool: request.tool, args: request.args, member: request.member, redact });
  // A replayed call has no transaction to join: what it did is in its answer and in that of the commit.
  if (turn.kind === 'refuse') return runCall({ ...request, taped: turn.error }, parts, onOpen);
  if (turn.kind === 'replay') return runCall({ ...request, taped: turn.call }, withoutPrograms(parts), onOpen);
  let live: LiveCall | undefined;
  const heard: EventMessage[] = [];
  const stop = parts.events.listen(
    sessionId,
    ({ message }) => {
      if (message.request_id === request.requestId) heard.push(message);
    },
    { events: 'progress' },
  );
  try {
    const response = await runJoined(request, parts, onOpen);
    live = await liveCall(request, { response, events: heard }, parts);
    const problem = turn.finish(live);
    return problem === undefined ? response : { ...response, warnings: [...response.warnings, problem] };
  } finally {
    stop();
    if (live === undefined) turn.finish(undefined);
  }
}

/** A cassette has to know which calls run side by side; 0 for none. */
export async function asMembers<Answer>(
  size: number,
  { cassette }: SessionParts,
  run: (memberAt: MemberAt) => Promise<Answer>,
): Promise<Answer> {
  if (cassette === undefined || size === 0) return run(() => ({}));
  const batch = cassette.batch(size);
  try {
    return await run((index) => ({ member: { batch, index } }));
  } finally {
    batch.close();
  }
}

export type MemberAt = (index: number) => Pick<CallRequest, 'member'>;

/** What a replayed call is checked by cannot start a program. */
function withoutPrograms(parts: SessionParts): SessionParts {
  const refuse = (): never => {
    throw policyDenial('A replayed call starts no program', {
      details: {
        gate: 'cassette',
        reason: 'replay_starts_nothing',
        next: 'leave out the rule that needs one, or record the run again',
      },
    });
  };
  return { ...parts, programs: new Proxy(parts.programs, { get: refuse }) };
}

/** Without secrets, as records and events are. */
async function liveCall(
  { tool, args }: CallRequest,
  { response, events }: Pick<LiveCall, 'response' | 'events'>,
  parts: SessionParts,
): Promise<LiveCall> {
  const { redactor } = parts;
  const { data, errors, warnings } = response;
  return {
    args: coveredArgs(tool, jsonOf(args), parts),
    response: {
      ...response,
      data: mapTexts(data, redactor.redactText),
      errors: errors.map((entry) => redactEntry(entry, redactor)),
      warnings: warnings.map((entry) => redactEntry(entry, redactor)),
    },
    events,
    files: await filesOf(response.change_id, parts),
  };
}

function coveredArgs(tool: string, args: JsonValue, { tools, redactor }: SessionParts): JsonValue {
  const places = tools.get(tool)?.annotations.arg_schema ?? completeAnnotations().arg_schema;
  const shown = isJsonObject(args) ? shownArgs(args as JsonObject, places, redactor) : args;
  return mapTexts(shown, redactor.redactText);
}

/** What is in the change set of the call, once that is real. */
async function filesOf(changeId: string | undefined, parts: SessionParts): Promise<readonly RecordedFile[]> {
  const set = changeId === undefined ? undefined : parts.changes.store.get(changeId);
  if (set === undefined || set.status !== 'applied') return [];
  const files: RecordedFile[] = [];
  for (const change of set.paths) files.push(await fileOf(change, parts));
  return files.toSorted((one, other) => (one.path < other.path ? -1 : 1));
}

async function fileOf(change: PathChange, parts: SessionParts): Promise<RecordedFile> {
  const { path, after } = change;
  switch (after.kind) {
    case 'absent':
      return { path, absent: true };
    case 'link':
      return { path, link: after.target };
    case 'folder':
      return { path, folder: true, mode: octal(after.mode) };
    case 'file':
      return { path, file: await contentOf(path, after, parts), mode: octal(after.mode) };
  }
}

async function contentOf(
  path: string,
  { digest, size }: Extract<PathState, { readonly kind: 'file' }>,
  { changes, redactor }: SessionParts,
): Promise<RecordedContent> {
  if (size > MAX_CONTENT) return { left_out: 'too_large' };
  const bytes = changes.store.bytes(digest) ?? (await settledRead(changes, path, digest));
  if (bytes === undefined) return { left_out: 'not_kept' };
  const content = recordedContent(bytes, redactor.redactText);
  const hidesSecret = 'base64' in content && redactor.known.bytes(bytes) !== bytes;
  return hidesSecret ? { left_out: 'not_kept' } : content;
}

/** A file that cannot be read by now is left out; the call is done. */
async function settledRead(changes: SessionParts['changes'], path: string, digest: string) {
  const read = await settle(() => changes.forCall().read(path, digest));
  return read.ok ? read.value : undefined;
}

function octal(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(3, '0');
}
