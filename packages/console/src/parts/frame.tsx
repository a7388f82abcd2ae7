/** What is around every screen: navigation, the link to the host, and the person. */
import type { ComponentChildren } from 'preact';
import { isUtc, showUtc } from '../format.ts';
import { leave, person } from '../host.ts';
import { approvals, link } from '../live.ts';
import { addressOf, SCREENS, screenName } from '../location.ts';
import { setTheme, theme } from '../theme.ts';

const LINK_WORDS = { connecting: 'connecting', live: 'live', broken: 'reconnecting' } as const;

export function Frame({ children }: { readonly children: ComponentChildren }) {
  const waiting = approvals.value.length;
  return (
    <div class="frame">
      <a class="skip" href="#main" onClick={(event) => skip(event)}>
        Skip to the content
      </a>
      <div class="side">
        <p class="brand">
          <span class="mark" aria-hidden="true" /> Tool Runtime
        </p>
        <nav aria-label="Console">
          {SCREENS.filter((name) => name !== 'fleet' || person.value?.in_fleet === true).map((name) => (
            <a key={name} href={addressOf(name)} aria-current={screenName.value === name ? 'page' : undefined}>
              {name.charAt(0).toUpperCase() + name.slice(1)}
              {name === 'approvals' && waiting > 0 ? <span class="badge">{waiting}</span> : null}
            </a>
          ))}
        </nav>
        <div class="foot">
          <span class={`link ${link.value}`} role="status">
            {LINK_WORDS[link.value]}
          </span>
          <span class="who" title={person.value?.name}>
            {person.value?.role}
          </span>
          <span class="foot-tools">
            <button type="button" class="small" onClick={() => showUtc(!isUtc.value)} aria-pressed={isUtc.value}>
              UTC
            </button>
            <button type="button" class="small" onClick={() => setTheme(theme.value === 'dark' ? 'light' : 'dark')}>
              {theme.value === 'dark' ? 'Light' : 'Dark'}
            </button>
            <button type="button" class="small" onClick={() => void leave()}>
              Sign out
            </button>
          </span>
        </div>
      </div>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}

function skip(event: MouseEvent): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}
