/** Blocks of text from elsewhere: diffs, output of programs, JSON. Always text, never markup. */
import { useState } from 'preact/hooks';
import { readAnsi } from '../ansi.ts';
import { count, visible } from '../format.ts';

const FIRST_LINES = 400;
const MAX_CHARS = 200_000;
const MAX_LINE = 2000;

interface Cut {
  readonly lines: readonly string[];
  readonly left: number;
}

function linesOf(text: string, isWhole: boolean): Cut {
  const lines = text.slice(0, MAX_CHARS).split('\n');
  const most = isWhole ? lines.length : FIRST_LINES;
  return { lines: lines.slice(0, most), left: Math.max(0, lines.length - most) + (text.length > MAX_CHARS ? 1 : 0) };
}

function More({ left, onMore }: { readonly left: number; readonly onMore: () => void }) {
  if (left === 0) return null;
  return (
    <button type="button" class="small" onClick={onMore}>
      Show {count(left)} more lines
    </button>
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
  const { lines, left } = linesOf(text.replace(/\n$/, ''), isWhole);
  return (
    <>
      <pre class="code diff" tabIndex={0}>
        {lines.map((line, at) => (
          <span key={at} class={`line ${diffTone(line)}`}>
            {`${visible(line, MAX_LINE)}\n`}
          </span>
        ))}
      </pre>
      <More left={left} onMore={() => setWhole(true)} />
    </>
  );
}

/** What a program printed, with its colours. */
export function Output({ text }: { readonly text: string }) {
  const [isWhole, setWhole] = useState(false);
  const { lines, left } = linesOf(text, isWhole);
  return (
    <>
      <pre class="code" tabIndex={0}>
        {readAnsi(lines.map((line) => line.slice(0, MAX_LINE)).join('\n')).map(({ text: part, style }, at) => (
          <span key={at} class={style}>
            {visible(part, MAX_CHARS)}
          </span>
        ))}
      </pre>
      <More left={left} onMore={() => setWhole(true)} />
    </>
  );
}

export function Json({ value }: { readonly value: unknown }) {
  return <Output text={JSON.stringify(value, null, 2) ?? 'nothing'} />;
}
