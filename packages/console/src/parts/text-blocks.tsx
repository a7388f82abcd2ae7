/** Blocks of text from elsewhere: diffs, output of programs, JSON. Always text, never markup. */
import { useMemo, useState } from 'preact/hooks';
import { readAnsi } from '../ansi.ts';
import { count, visible } from '../format.ts';

const FIRST_LINES = 400;
const MAX_CHARS = 200_000;
const MAX_LINE = 2000;

interface Cut {
  readonly lines: readonly string[];
  /** Lines that a button shows. */
  readonly left: number;
  /** Characters that are never shown. */
  readonly beyond: number;
}

function linesOf(text: string, isWhole: boolean): Cut {
  const lines = text.slice(0, MAX_CHARS).split('\n');
  const most = isWhole ? lines.length : FIRST_LINES;
  return {
    lines: lines.slice(0, most),
    left: Math.max(0, lines.length - most),
    beyond: Math.max(0, text.length - MAX_CHARS),
  };
}

function More({ cut: { left, beyond }, onMore }: { readonly cut: Cut; readonly onMore: () => void }) {
  return (
    <>
      {left === 0 ? null : (
        <button type="button" class="small" onClick={onMore}>
          Show {count(left)} more lines
        </button>
      )}
      {beyond === 0 ? null : <p class="hint">{count(beyond)} more characters are not shown here.</p>}
    </>
  );
}

function diffTone(line: string): string {
  if (line.startsWith('@@')) return 'hunk';
  if (/^(?:---|\+\+\+) /.test(line)) return 'file';
  if (line.startsWith('+')) return 'added';
  return line.startsWith('-') ? 'removed' : '';
}

export function Diff({ text }: { readonly text: string }) {
  const [isWhole, setWhole] = useState(false);
  const cut = linesOf(text.endsWith('\n') ? text.slice(0, -1) : text, isWhole);
  return (
    <>
      <pre class="code diff" tabIndex={0}>
        {cut.lines.map((line, at) => (
          <span key={at} class={`line ${diffTone(line)}`}>
            {`${visible(line, MAX_LINE)}\n`}
          </span>
        ))}
      </pre>
      <More cut={cut} onMore={() => setWhole(true)} />
    </>
  );
}

const shorten = (line: string): string =>
  line.length <= MAX_LINE ? line : `${line.slice(0, MAX_LINE)}… (the line goes on)`;

/** What a program printed, with its colours. */
export function Output({ text }: { readonly text: string }) {
  const [isWhole, setWhole] = useState(false);
  const cut = linesOf(text, isWhole);
  return (
    <>
      <pre class="code" tabIndex={0}>
        {readAnsi(cut.lines.map(shorten).join('\n')).map(({ text: part, style }, at) => (
          <span key={at} class={style}>
            {visible(part, MAX_CHARS)}
          </span>
        ))}
      </pre>
      <More cut={cut} onMore={() => setWhole(true)} />
    </>
  );
}

export function Json({ value }: { readonly value: unknown }) {
  const text = useMemo(() => JSON.stringify(value, null, 2) ?? 'nothing', [value]);
  return <Output text={text} />;
}
