/** Small parts that every screen uses. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { bothTimes, clock, day, toneOf, wordOf } from '../format.ts';
import { messageOf, nextOf } from '../host.ts';

export function Chip({ word, decision }: { readonly word: string; readonly decision?: string | undefined }) {
  return <span class={`chip ${toneOf(word, decision)}`}>{wordOf(word)}</span>;
}

export function Time({ ms, full = false }: { readonly ms: number; readonly full?: boolean }) {
  return (
    <time dateTime={new Date(ms).toISOString()} title={bothTimes(ms)}>
      {full ? `${day(ms)} ` : ''}
      {clock(ms, full)}
    </time>
  );
}

export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      <p>{children}</p>
    </div>
  );
}

export function Problem({ problem, again }: { readonly problem: unknown; readonly again?: () => void }) {
  const next = nextOf(problem);
  return (
    <div class="problem" role="alert">
      <strong>{messageOf(problem)}</strong>
      {next === undefined ? null : <span>{next}</span>}
      {again === undefined ? null : (
        <button type="button" class="small" onClick={again}>
          Try again
        </button>
      )}
    </div>
  );
}

export function Copy({ text, label }: { readonly text: string; readonly label: string }) {
  const [word, setWord] = useState(label);
  return (
    <button
      type="button"
      class="small"
      onClick={async () => {
        await navigator.clipboard.writeText(text);
        setWord('Copied');
        setTimeout(() => setWord(label), 1500);
      }}
    >
      {word}
    </button>
  );
}

export function Head({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <header class="head">
      <h1>{title}</h1>
      <div class="head-tools">{children}</div>
    </header>
  );
}

export function Panel({
  title,
  children,
  tools,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly tools?: ComponentChildren;
}) {
  return (
    <section class="panel" aria-label={title}>
      <div class="panel-head">
        <h2>{title}</h2>
        {tools}
      </div>
      {children}
    </section>
  );
}

export function Facts({ rows }: { readonly rows: readonly (readonly [string, ComponentChildren] | undefined)[] }) {
  return (
    <dl class="facts">
      {rows.map((row) =>
        row === undefined ? null : (
          <div key={row[0]}>
            <dt>{row[0]}</dt>
            <dd>{row[1]}</dd>
          </div>
        ),
      )}
    </dl>
  );
}
