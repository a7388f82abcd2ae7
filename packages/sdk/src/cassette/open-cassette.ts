/**
 * A cassette in use: takes the calls of all sessions of a runtime, one by one, as they begin.
 *
 * Calls are written in the order in which they began, whatever the order in which they ended, so that recording a run again
 * gives the same bytes. Each session is replayed by itself: sessions that work at the same time do not get in each other's way.
 * After the first call that differs nothing is answered any more.
 */
import { type ErrorEntry, type JsonValue, ToolError, toToolError } from '@tool-runtime/protocol';
import type {
  AskedCall,
  BatchMember,
  Cassette,
  CassetteBatch,
  CassetteOptions,
  CassetteState,
  CassetteTurn,
  LiveCall,
  TapedCall,
} from '../contracts/cassette.ts';
import { failure } from '../contracts/failures.ts';
import { type CassetteLog, openCassetteLog, readCassette } from '../platform/state/cassette-log.ts';
import {
  type CassetteCall,
  type CassetteText,
  callLine,
  headLine,
  looksLikeCassette,
  MAX_FILE_BYTES,
  parseCassette,
} from './cassette-text.ts';
import { firstDifference, nearestCall } from './compare-calls.ts';
import { jsonOf } from './json-of.ts';
import type { KeptTool } from './kept-tools.ts';
import { type Folders, StableForms } from './stable-forms.ts';
import { steadyEvents } from './steady-events.ts';

export interface CassettePorts {
  readonly folders: Folders;
  isOurs(uuid: string): boolean;
}

/** A cassette whose file was read and checked; nothing was written yet. */
export interface LoadedCassette {
  /** Tools that replay knows from the file; undefined where they are to be opened. */
  readonly tools: readonly KeptTool[] | undefined;
  /** With the tools that come with the registry, where it records. */
  start(ports: CassettePorts, tools: readonly KeptTool[]): Cassette;
}

/** Throws E_VALIDATION_FAIL for a file that is not a cassette, and when the cassette to replay does not exist. */
export function loadCassette(options: CassetteOptions): LoadedCassette {
  const { mode, file } = options;
  const text = readCassette(file, MAX_FILE_BYTES);
  if (mode === 'record') {
    if (text !== undefined && !looksLikeCassette(text)) throw notACassette(file);
    return {
      tools: undefined,
      start: (ports, tools) => new OpenCassette(options, ports, { tools, loaded: undefined }),
    };
  }
  if (text === undefined && mode === 'replay') throw missing(file);
  const loaded = text === undefined || text === '' ? undefined : parseCassette(text, file);
  if (loaded === undefined && mode === 'replay') throw missing(file);
  return {
    tools: mode === 'replay' ? (loaded?.tools ?? []) : undefined,
    start: (ports, tools) => new OpenCassette(options, ports, { tools, loaded, text: text ?? '' }),
  };
}

interface Held {
  readonly tools: readonly KeptTool[];
  readonly loaded: CassetteText | undefined;
  readonly text?: string;
}

interface Track {
  readonly number: number;
  readonly calls: readonly CassetteCall[];
  readonly replayed: Set<CassetteCall>;
  /** All before it were replayed. */
  next: number;
}

interface Batch extends CassetteBatch {
  isClosed: boolean;
  /** Where the calls of its session were when its first one began. */
  start: number | undefined;
}

interface Slot {
  readonly member: BatchMember | undefined;
  readonly track: Track;
  readonly tool: string;
  isDone: boolean;
  call: LiveCall | undefined;
}

class OpenCassette implements Cassette {
  readonly #options: CassetteOptions;
  readonly #stable: StableForms;
  readonly #calls: readonly CassetteCall[];
  /** Of sessions that made no call yet, in the order of their first recorded ones. */
  readonly #waiting: Track[];
  readonly #tracks = new Map<string, Track>();
  readonly #log: CassetteLog | undefined;
  readonly #slots: Slot[] = [];
  #sessions: number;
  #written: number;
  #recorded = 0;
  #replayed = 0;
  #failure: ToolError | undefined;
  #applied: Promise<unknown> = Promise.resolve();

  constructor(options: CassetteOptions, { folders, isOurs }: CassettePorts, { tools, loaded, text = '' }: Held) {
    this.#options = options;
    this.#stable = new StableForms({ folders, isOurs, before: text });
    this.#calls = loaded?.calls ?? [];
    this.#waiting = tracksOf(this.#calls);
    this.#sessions = Math.max(0, ...this.#waiting.map(({ number }) => number));
    this.#written = this.#calls.length;
    if (options.mode === 'replay') return;
    this.#log = openCassetteLog(options.file, { keep: loaded?.wholeBytes ?? 0, maxBytes: MAX_FILE_BYTES });
    if (loaded === undefined) this.#log.append(headLine(this.#stable.answer(tools)));
    else if (!text.slice(0, loaded.wholeBytes).endsWith('\n')) this.#log.append('');
  }

  take(call: AskedCall): CassetteTurn {
    if (this.#failure !== undefined) return { kind: 'refuse', error: this.#failure };
    const asked = { ...call, args: jsonOf(call.args) };
    const track = this.#trackOf(asked);
    const [next, ...others] = this.#candidates(track, asked.member);
    if (next === undefined) {
      return this.#options.mode === 'replay' ? this.#refuse(this.#atEnd(asked, track)) : this.#record(asked, track);
    }
    const recorded = [next, ...others].find((call) => this.#difference(call, asked) === undefined);
    if (recorded === undefined) return this.#refuse(this.#differing(next, asked));
    track.replayed.add(recorded);
    this.#replayed += 1;
    return { kind: 'replay', call: this.#liveCall(recorded) };
  }

  batch(size: number): CassetteBatch {
    const batch: Batch = {
      size,
      isClosed: false,
      start: undefined,
      close: () => {
        batch.isClosed = true;
        this.#flush();
      },
    };
    return batch;
  }

  /** The next recorded call, and for one of a batch those of the same batch. */
  #candidates(track: Track, member: BatchMember | undefined): readonly CassetteCall[] {
    const { calls, replayed } = track;
    for (let call = calls[track.next]; call !== undefined && replayed.has(call); call = calls[track.next])
      track.next += 1;
    const { next } = track;
    if (member === undefined) return calls.slice(next, next + 1);
    const batch = member.batch as Batch;
    batch.start ??= next;
    return calls.slice(next, Math.max(next + 1, batch.start + batch.size)).filter((call) => !replayed.has(call));
  }

  #refuse(error: ToolError): CassetteTurn {
    this.#failure = error;
    return { kind: 'refuse', error };
  }

  state(): CassetteState {
    const { mode, file } = this.#options;
    const left = this.#calls.length - this.#replayed;
    return { mode, file, recorded: this.#recorded, replayed: this.#replayed, left, failure: this.#failure };
  }

  close(): void {
    this.#log?.close();
  }

  #trackOf(asked: AskedCall & { readonly args: JsonValue }): Track {
    const known = this.#tracks.get(asked.sessionId);
    if (known !== undefined) return known;
    const size = asked.member?.batch.size ?? 1;
    const fits = ({ calls }: Track) => calls.slice(0, size).some((call) => this.#difference(call, asked) === undefined);
    const at = Math.max(0, this.#waiting.findIndex(fits));
    const [found] = this.#waiting.splice(at, 1);
    if (found === undefined) this.#sessions += 1;
    const track = found ?? { number: this.#sessions, calls: [], replayed: new Set(), next: 0 };
    this.#tracks.set(asked.sessionId, track);
    return track;
  }

  #record({ tool, member }: AskedCall, track: Track): CassetteTurn {
    const slot: Slot = { track, tool, member, isDone: false, call: undefined };
    this.#slots.splice(this.#placeOf(member), 0, slot);
    return {
      kind: 'record',
      finish: (call) => {
        slot.call = call;
        slot.isDone = true;
        return this.#flush();
      },
    };
  }

  /** Among the calls of its batch by its number there, which are not written before all have begun. */
  #placeOf(member: BatchMember | undefined): number {
    const later = this.#slots.findIndex(
      (slot) => member !== undefined && slot.member?.batch === member.batch && slot.member.index > member.index,
    );
    if (later >= 0) return later;
    const last = this.#slots.findLastIndex((slot) => member !== undefined && slot.member?.batch === member.batch);
    return last >= 0 ? last + 1 : this.#slots.length;
  }

  /** Writes what is done, up to the first call that still runs. */
  #flush(): ErrorEntry | undefined {
    const isReady = ({ isDone, member }: Slot) => isDone && (member?.batch as Batch | undefined)?.isClosed !== false;
    while (this.#slots[0] !== undefined && isReady(this.#slots[0])) {
      const slot = this.#slots.shift();
      if (slot?.call === undefined || this.#failure !== undefined) continue;
      try {
        this.#log?.append(this.#lineOf(slot, slot.call));
      } catch (thrown) {
        this.#failure = notWritten(this.#options.file, toToolError(thrown));
        return this.#failure.toEntry();
      }
      this.#written += 1;
      this.#recorded += 1;
    }
    return undefined;
  }

  #lineOf({ track, tool }: Slot, { args, response, events, files }: LiveCall): string {
    const { ok, data, errors, warnings, redacted, change_id } = response;
    const answer = {
      ...{ ok, data, errors, warnings },
      ...(redacted === undefined ? {} : { redacted }),
      ...(change_id === undefined ? {} : { change_id }),
    };
    return callLine({
      call: this.#written + 1,
      session: track.number,
      tool,
      args: this.#stable.args(args),
      answer: this.#stable.answer(answer),
      events: this.#stable.answer(steadyEvents(events)),
      files: files.map((file) => this.#stableFile(file)),
    });
  }

  /** Paths and links are names in the workspace. In a text, ids and folders are replaced as in answers, so that they fit. */
  #stableFile(file: LiveCall['files'][number]): LiveCall['files'][number] {
    if (!('file' in file) || !('text' in file.file)) return file;
    return { ...file, file: { text: this.#stable.text(file.file.text) } };
  }

  #liveCall(recorded: CassetteCall): TapedCall {
    const { mode, applyFiles = false } = this.#options;
    const { answer, events = [], files = [] } = recorded;
    return {
      answer: this.#stable.live(answer),
      events: this.#stable.live(events),
      files: applyFiles || mode === 'replay-or-record' ? this.#stable.live(files) : undefined,
      refused: (error) => {
        const what = `it was answered when it was recorded, and is refused now: ${error.message}`;
        this.#failure ??= this.#differs(recorded, what);
      },
      inTurn: (apply) => {
        const applying = this.#applied.then(apply);
        this.#applied = applying.catch(() => {});
        return applying;
      },
    };
  }

  #difference(recorded: CassetteCall, asked: { readonly tool: string; readonly args: JsonValue }) {
    return firstDifference({ tool: recorded.tool, args: this.#stable.live(recorded.args) }, asked);
  }

  #differing(recorded: CassetteCall, asked: AskedCall & { readonly args: JsonValue }): ToolError {
    const found = this.#difference(recorded, asked) ?? { where: 'order', recorded: 'another call', now: 'this call' };
    const now = asked.redact(found.now);
    const what = `${found.where}: recorded ${found.recorded}, now ${now}`;
    return this.#differs(recorded, what, { ...this.#nearest(asked), difference: { ...found, now } });
  }

  #atEnd(asked: AskedCall & { readonly args: JsonValue }, { number, calls }: Track): ToolError {
    const what = `session ${number} has ${calls.length} recorded calls, and this is another one: ${asked.tool}`;
    return this.#refusal(what, { ...this.#nearest(asked), session: number });
  }

  #differs(recorded: CassetteCall, what: string, more: ToolError['details'] = {}): ToolError {
    const { call, session, tool } = recorded;
    return this.#refusal(`call ${call} (${tool}), ${what}`, {
      expected: { call, line: call + 1, session, tool },
      ...more,
    });
  }

  #nearest(asked: { readonly tool: string; readonly args: JsonValue }) {
    const live = this.#calls.map((call) => ({ ...call, args: this.#stable.live(call.args) }));
    const found = nearestCall(live, asked);
    if (found === undefined) return {};
    const difference = firstDifference(found, asked);
    return {
      nearest: {
        ...{ call: found.call, line: found.call + 1, tool: found.tool },
        differs_in: difference?.where ?? 'nothing but the order',
      },
    };
  }

  #refusal(what: string, details: ToolError['details']): ToolError {
    const { file } = this.#options;
    return failure('policy_denial', 'not_retryable', `Call differs from the cassette ${file}: ${what}`, {
      details: {
        ...{ gate: 'cassette', reason: 'cassette_differs', file },
        ...details,
        next: 'make the calls as they were recorded, or record them again',
      },
    });
  }
}

function tracksOf(calls: readonly CassetteCall[]): Track[] {
  const tracks = new Map<number, CassetteCall[]>();
  for (const call of calls) {
    const track = tracks.get(call.session) ?? [];
    track.push(call);
    tracks.set(call.session, track);
  }
  return [...tracks].map(([number, own]) => ({ number, calls: own, replayed: new Set(), next: 0 }));
}

function missing(file: string): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `There is no cassette to replay: ${file}`, {
    path: file,
    details: { gate: 'cassette', reason: 'no_cassette', next: 'record it first, with the mode record' },
  });
}

function notACassette(file: string): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `File is not a cassette and will not be overwritten: ${file}`, {
    path: file,
    details: { gate: 'cassette', reason: 'not_a_cassette', next: 'name another file, or remove this one first' },
  });
}

function notWritten(file: string, cause: ToolError): ToolError {
  return failure(
    'tool_failure',
    'host_configuration_needed',
    `Call ran, but could not be added to the cassette: ${cause.message}`,
    {
      path: file,
      details: {
        gate: 'cassette',
        reason: 'cassette_not_written',
        next: 'free space or name another file, and record again',
      },
      cause,
    },
  );
}
