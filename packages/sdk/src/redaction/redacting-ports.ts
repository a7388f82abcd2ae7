/**
 * The ports of a session through which something leaves it. Known secrets are masked in all of them; what only looks
 * like a secret is masked in events and records, never in artifacts, which hold what programs printed.
 */
import type { EventMessage, JsonObject, JsonValue } from '@tool-runtime/protocol';
import type { ArtifactStore, ArtifactWriter } from '../contracts/artifacts.ts';
import type { JournalRecord, JournalStore } from '../contracts/journal.ts';
import type { MaskCount } from '../contracts/redaction.ts';
import { mapTexts } from './known-values.ts';
import type { Redactor } from './redactor.ts';

/** Covered before they are written: what lies on the disk is what may be read. */
export function redactingArtifacts(artifacts: ArtifactStore, redactor: Redactor, count?: MaskCount): ArtifactStore {
  return {
    create() {
      const writer = artifacts.create();
      return redactor.known.isEmpty ? writer : redactingWriter(writer, redactor, count);
    },
    read: (handle, range) => artifacts.read(handle, range),
    prune: (limits) => artifacts.prune(limits),
  };
}

function redactingWriter(writer: ArtifactWriter, { known }: Redactor, count: MaskCount | undefined): ArtifactWriter {
  const filter = known.stream(count);
  const write = (bytes: Uint8Array): void => {
    if (bytes.length > 0) writer.write(bytes);
  };
  return {
    handle: writer.handle,
    write: (chunk) => write(filter.push(chunk)),
    finish() {
      write(filter.end());
      return writer.finish();
    },
    discard: () => writer.discard(),
  };
}

interface Emitter {
  emit(sessionId: string, message: EventMessage): void;
}

export function redactingEvents<Bus extends Emitter>(events: Bus, redactor: Redactor): Bus {
  const emit = (sessionId: string, message: EventMessage): void => {
    events.emit(sessionId, coverEvent(message, redactor));
  };
  return { ...events, emit };
}

function coverEvent(message: EventMessage, { redactText }: Redactor): EventMessage {
  const { progress, data } = message;
  return {
    ...message,
    progress: { ...progress, message: redactText(progress.message) },
    ...(data === undefined ? {} : { data: mapTexts(data, redactText) as JsonObject }),
  };
}

/** Ids, hashes and names of ours: what looks like a secret in them is chance, and changing it would break the chain. */
const STRUCTURE: ReadonlySet<string> = new Set([
  ...['kind', 'tool', 'actor', 'client', 'instance', 'request_id', 'idempotency_key', 'dedupe_key', 'effect_id'],
  ...['call_id', 'session_id', 'parent_session_id', 'child_session_id', 'approval_id', 'plan_id', 'run_id'],
  ...['args_hash', 'before_hash', 'after_hash', 'data_digest', 'package_fingerprint', 'registry_fingerprint'],
  ...['granted_fingerprint'],
  ...['before', 'after', 'run_digest', 'result_digest', 'commit'],
]);

/** Names of files: what happened to them is compared with them later, so no guess may change them. */
const PATH = 'path';

/** Answers of keyed calls are not touched: they are covered like every answer, and repeated as they were given. */
export function redactingJournal(journal: JournalStore, redactor: Redactor): JournalStore {
  const shown = (records: readonly JournalRecord[]): readonly JournalRecord[] =>
    records.map((record) => coverRecord(record as unknown as JsonObject, redactor) as unknown as JournalRecord);
  return {
    append: (records) => journal.append(shown(records)),
    claim: (claim, records) => journal.claim(claim, shown(records)),
    settle: (scope, key, answer, records) => journal.settle(scope, key, answer, shown(records)),
    release: (scope, key, records) => journal.release(scope, key, shown(records)),
    lookup: (scope, key, argsHash) => journal.lookup(scope, key, argsHash),
    claimsOf: (callId) => journal.claimsOf(callId),
    unfinished: () => journal.unfinished(),
    atomically: (work, options) => journal.atomically(work, options),
    read: (filter) => journal.read(filter),
    head: () => journal.head(),
    verify: (anchor, options) => journal.verify(anchor, options),
    rotate: (options) => journal.rotate(options),
    prune: (options) => journal.prune(options),
    enroll: (instance) => journal.enroll(instance),
    instances: () => journal.instances(),
    findInstance: (id) => journal.findInstance(id),
    retire: (id) => journal.retire(id),
    close: () => journal.close(),
  };
}

/** Copied only where something is masked: hardly any record has a secret, and every call writes several. */
function coverRecord(value: JsonObject, redactor: Redactor): JsonObject {
  if (isClean(value, redactor)) return value;
  const entries = Object.entries(value).map(([name, item]) => [
    redactor.known.text(name),
    coverItem(name, item, redactor),
  ]);
  return Object.fromEntries(entries) as JsonObject;
}

function isClean(value: JsonObject, redactor: Redactor): boolean {
  // Records are plain objects; a list of their names for each of them would cost more than the look.
  for (const name in value) {
    const item = value[name] as JsonValue;
    if (redactor.known.text(name) !== name || coverItem(name, item, redactor) !== item) return false;
  }
  return true;
}

function coverItem(name: string, item: JsonValue, redactor: Redactor): JsonValue {
  if (typeof item === 'number' || STRUCTURE.has(name)) return item;
  if (typeof item === 'string') return name === PATH ? redactor.known.text(item) : redactor.redactText(item);
  if (typeof item !== 'object' || item === null) return item;
  if (Array.isArray(item)) {
    if (item.length === 0) return item;
    const covered = item.map((inner: JsonValue) => coverItem(name, inner, redactor));
    return covered.every((inner, at) => inner === item[at]) ? item : covered;
  }
  return coverRecord(item as JsonObject, redactor);
}
