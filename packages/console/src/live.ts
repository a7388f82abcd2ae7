/** What happens on the host right now: one stream for all screens, open questions, and when to look again. */
import { effect, signal } from '@preact/signals';
import type { EventMessage, PendingApproval } from '@tool-runtime/protocol';
import { followStream, type Link } from './activity-stream.ts';
import { host, may } from './host.ts';

export const link = signal<Link>('connecting');
export const missed = signal(0);
export const isPaused = signal(false);
/** Grows when something happened; screens that show it ask again. */
export const pulse = signal(0);
/** Grows when a workspace was opened anew: another registry, or other approved tools. */
export const registryTurn = signal(0);
export const approvals = signal<readonly PendingApproval[]>([]);
export const soundOn = signal(localStorage.getItem('sound') === 'true');
/** The clock of things that grow older on the screen. */
export const now = signal(Date.now());
/** How many calls run, as the host last said. */
export const running = signal(0);

const EVERY_MS = 250;
const seen: { lastId?: number; isDirty: boolean; isOld: boolean; questions: ReadonlySet<string> } = {
  isDirty: false,
  isOld: false,
  questions: new Set(),
};

function onEvent(event: EventMessage): void {
  if (event.id !== undefined) seen.lastId = event.id;
  seen.isDirty = true;
  if (event.event === 'EventsMissed') {
    const lost = event.data?.['missed'];
    missed.value += typeof lost === 'number' ? lost : 1;
  }
  if (event.event === 'RegistryChanged') registryTurn.value += 1;
  if (event.event.startsWith('Approval')) void readApprovals();
  if (event.event === 'CallsChanged') running.value = Number(event.data?.['running'] ?? 0);
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
    if (!seen.isDirty || document.hidden || isPaused.value) return;
    seen.isDirty = false;
    pulse.value += 1;
  }, EVERY_MS);
  followStream({
    signal: ending.signal,
    lastId: () => seen.lastId,
    onEvent,
    onLink(state) {
      link.value = state;
      if (state === 'broken') running.value = 0;
      if (state !== 'live') return;
      seen.isDirty = true;
      void readApprovals();
    },
  });
  const badge = effect(() => {
    const waiting = approvals.value.length;
    document.title = waiting === 0 ? 'Console' : `(${waiting}) Console`;
  });
  return () => {
    ending.abort();
    clearInterval(timer);
    badge();
  };
}
