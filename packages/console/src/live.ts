/** What happens on the host right now: one stream for all screens, open questions, and when to look again. */
import { effect, signal } from '@preact/signals';
import type { CallsChanged, EventMessage, PendingApproval } from '@tool-runtime/protocol';
import { followStream, type Link, type Stream } from './activity-stream.ts';
import type { CallNews } from './call-rows.ts';
import { host, may } from './host.ts';

export const link = signal<Link>('connecting');
/** Events that did not reach this page. The host cannot count those that it no longer keeps. */
export const missed = signal({ counted: 0, others: false });
/** Grows when something happened, at most once a second; screens that show it ask again. */
export const pulse = signal(0);
/** Grows when a workspace was opened anew: another registry, or other approved tools. */
export const registryTurn = signal(0);
export const approvals = signal<readonly PendingApproval[]>([]);
export const soundOn = signal(localStorage.getItem('sound') === 'true');
/** The clock of things that grow older on the screen. */
export const now = signal(Date.now());
/** How many calls run, as the host last said. */
export const running = signal(0);

export interface CallListener {
  onCalls(news: CallNews): void;
  /** What was heard so far may have gaps. */
  onGap(): void;
}

const EVERY_MS = 250;
const PULSE_MS = 1000;
const seen: {
  lastId?: number;
  isDirty: boolean;
  pulsedAt: number;
  isOld: boolean;
  isGapOwed: boolean;
  questions: ReadonlySet<string>;
} = {
  isDirty: false,
  pulsedAt: 0,
  isOld: false,
  isGapOwed: false,
  questions: new Set(),
};
const callListeners = new Set<CallListener>();
const stream = signal<Stream | undefined>(undefined);
const isHidden = signal(document.hidden);
document.addEventListener('visibilitychange', () => {
  isHidden.value = document.hidden;
  if (seen.isGapOwed) tellGap();
});

/** A hidden page asks when it is seen again. */
function tellGap(): void {
  seen.isGapOwed = document.hidden;
  if (!seen.isGapOwed) for (const listener of callListeners) listener.onGap();
}

/** Nothing is heard of calls while the page is hidden; when it is seen again, the stream is opened anew, which is a gap. */
export function listenToCalls(listener: CallListener): () => void {
  callListeners.add(listener);
  const stop = effect(() => stream.value?.wantCalls(!isHidden.value));
  return () => {
    callListeners.delete(listener);
    stop();
    // A list of other calls may follow at once.
    queueMicrotask(() => callListeners.size === 0 && stream.peek()?.wantCalls(false));
  };
}

function onCallsChanged(changed: Partial<CallsChanged>): void {
  running.value = changed.running ?? 0;
  for (const news of changed.workspaces ?? []) for (const listener of callListeners) listener.onCalls(news);
}

function onEvent(event: EventMessage): void {
  if (event.id !== undefined) seen.lastId = event.id;
  seen.isDirty = true;
  if (event.event === 'EventsMissed') {
    const lost = event.data?.['missed'];
    const { counted, others } = missed.value;
    missed.value = typeof lost === 'number' ? { counted: counted + lost, others } : { counted, others: true };
    tellGap();
  }
  if (event.event === 'RegistryChanged') registryTurn.value += 1;
  if (event.event.startsWith('Approval')) void readApprovals();
  if (event.event === 'CallsChanged') onCallsChanged((event.data ?? {}) as Partial<CallsChanged>);
}

export async function readApprovals(): Promise<void> {
  if (!may('approve')) return;
  try {
    approvals.value = await host.approvals();
  } catch {
    // Asked again with the next tick, until the host answers.
    seen.isOld = true;
    return;
  }
  const ids = new Set(approvals.value.map(({ approval_id }) => approval_id));
  if (soundOn.value && [...ids].some((id) => !seen.questions.has(id))) beep();
  seen.questions = ids;
}

function beep(): void {
  const audio = new AudioContext();
  const tone = audio.createOscillator();
  const volume = audio.createGain();
  volume.gain.value = 0.06;
  tone.frequency.value = 660;
  tone.connect(volume).connect(audio.destination);
  tone.start();
  tone.stop(audio.currentTime + 0.15);
  tone.onended = () => void audio.close();
}

export function setSound(wanted: boolean): void {
  localStorage.setItem('sound', String(wanted));
  soundOn.value = wanted;
}

/** Follows the host until the function that it returns is called. */
export function follow(): () => void {
  const ending = new AbortController();
  const timer = setInterval(() => {
    if (!document.hidden) now.value = Date.now();
    if (seen.isOld) {
      seen.isOld = false;
      void readApprovals();
    }
    if (!seen.isDirty || document.hidden || Date.now() - seen.pulsedAt < PULSE_MS) return;
    seen.isDirty = false;
    seen.pulsedAt = Date.now();
    pulse.value += 1;
  }, EVERY_MS);
  stream.value = followStream({
    signal: ending.signal,
    lastId: () => seen.lastId,
    onEvent,
    onLink(state) {
      link.value = state;
      if (state === 'broken') running.value = 0;
      if (state !== 'live') return;
      seen.isDirty = true;
      tellGap();
      void readApprovals();
    },
  });
  const badge = effect(() => {
    const waiting = approvals.value.length;
    document.title = waiting === 0 ? 'Console' : `(${waiting}) Console`;
  });
  return () => {
    ending.abort();
    stream.value = undefined;
    clearInterval(timer);
    badge();
  };
}
