/** The console: signs in, then shows the screen that the address names. */
import 'uplot/dist/uPlot.min.css';
import './styles/base.css';
import './styles/parts.css';
import './styles/screens.css';
import './styles/servers.css';
import { type ComponentType, render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { enter, person, signInProblem } from './host.ts';
import { follow } from './live.ts';
import { type ScreenName, screenName } from './location.ts';
import { Frame } from './parts/frame.tsx';
import { Approvals } from './screens/approvals.tsx';
import { Timeline } from './screens/timeline.tsx';

const AT_ONCE: Partial<Record<ScreenName, ComponentType>> = {
  timeline: Timeline,
  approvals: Approvals,
};

const LATER: Partial<Record<ScreenName, () => Promise<ComponentType>>> = {
  journal: async () => (await import('./screens/journal.tsx')).Journal,
  call: async () => (await import('./screens/call.tsx')).Call,
  metrics: async () => (await import('./screens/metrics.tsx')).Metrics,
  tools: async () => (await import('./screens/tools.tsx')).Tools,
  policy: async () => (await import('./screens/policy.tsx')).Policy,
  family: async () => (await import('./screens/family.tsx')).Family,
  fleet: async () => (await import('./screens/fleet.tsx')).Fleet,
};

function Screen() {
  const name = screenName.value;
  const [loaded, setLoaded] = useState<Partial<Record<ScreenName, ComponentType>>>({});
  useEffect(() => {
    void LATER[name]?.().then((found) => setLoaded((old) => ({ ...old, [name]: found })));
  }, [name]);
  const Shown = AT_ONCE[name] ?? loaded[name];
  return Shown === undefined ? <p class="hint">Loading…</p> : <Shown key={name} />;
}

/** `/`, `j` and `k` go to what marks itself for them, wherever the focus is, except in a field. */
function onKey(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || !['/', 'j', 'k'].includes(event.key)) return;
  const target = event.target as HTMLElement;
  if (/^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.closest('[data-hotkey~="j"]') !== null) return;
  const goal = document.querySelector<HTMLElement>(`[data-hotkey~="${event.key}"]`);
  if (goal === null) return;
  event.preventDefault();
  goal.focus();
}

function SignedIn() {
  useEffect(follow, []);
  useEffect(() => {
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  return (
    <Frame>
      <Screen />
    </Frame>
  );
}

function SignIn() {
  return (
    <main class="sign-in">
      <h1>Console</h1>
      {signInProblem.value === '' ? <p>You are not signed in.</p> : <p role="alert">{signInProblem.value}</p>}
      <p>Get a link that works once, where the host runs, and open it here:</p>
      <pre class="code">npx tool-runtime console</pre>
      <p class="hint">
        Add <code>--role viewer</code> for someone who may look and not decide.
      </p>
    </main>
  );
}

function App() {
  if (person.value === undefined) return null;
  return person.value === null ? <SignIn /> : <SignedIn />;
}

const root = document.getElementById('app');
if (root !== null) render(<App />, root);
void enter();
addEventListener('hashchange', () => {
  if (location.hash.startsWith('#code=')) void enter();
});
