/**
 * What a program printed, without the colours and cursor moves of a terminal; of long output the failures come first,
 * because they are what it is about.
 */
import { stripVTControlCharacters } from 'node:util';
import { callText, type TextPart, type ToolText } from '../contracts/tool-text.ts';
import { parseFindings, plainLines } from '../findings/parse-findings.ts';

export interface PrintedOutput {
  /** How it ended, in a line or two. */
  readonly head: string;
  readonly stdout: string;
  readonly stderr: string;
  readonly stdoutArtifact?: string | undefined;
  readonly stderrArtifact?: string | undefined;
  /** How to see the rest of output that was not kept; the exact call. */
  readonly rest: string;
}

/** From here on a reader has to search. */
const LONG_CHARACTERS = 6000;

export function outputText({ head, stdoutArtifact, stderrArtifact, rest, ...printed }: PrintedOutput): ToolText {
  const [stdout, stderr] = [printed.stdout, printed.stderr].map((text) => stripVTControlCharacters(text)) as [
    string,
    string,
  ];
  const isLong = stdout.length + stderr.length > LONG_CHARACTERS;
  const failures = isLong ? failuresIn(`${stderr}\n${stdout}`) : [];
  const found =
    failures.length === 0 ? [] : [`failures found in the output below:`, ...failures.map((row) => `  ${row}`)];
  return {
    head: [head, ...found].join('\n'),
    parts: [
      ...streamPart('stdout', { text: stdout, artifact: stdoutArtifact, isNamed: stderr !== '', rest }),
      ...streamPart('stderr', { text: stderr, artifact: stderrArtifact, isNamed: true, rest }),
    ],
  };
}

interface Stream {
  readonly text: string;
  readonly artifact: string | undefined;
  readonly isNamed: boolean;
  readonly rest: string;
}

function streamPart(name: string, { text, artifact, isNamed, rest }: Stream): TextPart[] {
  if (text === '' && artifact === undefined) return [];
  const title = isNamed ? `${name}:\n` : '';
  const whole = artifact === undefined ? rest : callText('artifact_read', { artifact });
  return [
    {
      type: 'text',
      text: `${title}${text}`,
      keep: 'ends',
      rest: ({ bytes }) =>
        artifact === undefined
          ? rest
          : callText('artifact_read', { artifact, offset: Math.max(0, bytes - title.length) }),
    },
    ...(artifact === undefined ? [] : [{ type: 'text' as const, text: `[whole ${name}: ${whole}]` }]),
  ];
}

const MAX_ROWS = 40;
const MAX_ROW_CHARACTERS = 300;
/** Lines below a heading in which its reason stands. */
const NEAR = 6;

/** A line that names a failed test, or sums failures up. Each pattern reads forward only. */
const FAILED_LINES: readonly RegExp[] = [
  // node:test, spec and TAP; vitest and jest
  /^\s{0,40}(?:✖|✗|×|✕) \S/u,
  /^\s{0,40}not ok \d{1,9}\b/,
  /^\s{0,10}● \S.* › /u,
  /^\s{0,4}FAIL {1,2}\S/,
  // mocha
  /^\s{2,10}\d{1,6}\) \S/,
  // pytest
  /^(?:FAILED|ERROR) \S+(?:::| - )/,
  /^E {3}\S/,
  // go
  /^\s{0,40}--- FAIL: /,
  /^(?:panic|fatal error): /,
  // cargo
  /^test \S+ \.\.\. FAILED/,
  /^thread '.{1,200}' (?:\(\d+\) )?panicked at /,
  // gcc, ld, make
  /(?:^|: )undefined reference to /,
  /^make(?:\[\d+\])?: \*\*\* /,
  // npm
  /^npm (?:ERR!|error) (?:code|Missing|Lifecycle|Test)/,
];

/** The last line of a Python traceback, and the first line of a JavaScript or Java one. */
const PYTHON_TRACE = /^Traceback \(most recent call last\):/;
const ERROR_LINE =
  /^\s{0,20}(?:Uncaught )?(?:[\w.$]{0,100}(?:Error|Exception)(?: \[[\w-]{1,60}\])?|AssertionError.{0,60}): \S/;
const FRAME = /^\s{1,40}(?:at |File ")/;

/**
 * The lines of long output that say what failed: tests, compiler errors, and the top of stack traces, as common runners
 * print them. Linear in the output; what is not understood is left out, and the output itself is still there.
 */
export function failuresIn(output: string): readonly string[] {
  const lines = plainLines(output);
  const rows = new Set<string>();
  for (const { path, line, column, code, message, severity } of parseFindings(output).findings) {
    if (severity !== 'error') continue;
    const place = [path, line, column].filter((one) => one !== undefined).join(':');
    rows.add(shortened(`${place}: ${message}${code === undefined ? '' : ` (${code})`}`));
  }
  for (const [at, line] of lines.entries()) {
    if (rows.size >= MAX_ROWS) break;
    for (const row of readLine(lines, at, line)) rows.add(shortened(row));
  }
  return [...rows].slice(0, MAX_ROWS);
}

function readLine(lines: readonly string[], at: number, line: string): readonly string[] {
  if (FAILED_LINES.some((pattern) => pattern.test(line))) return [line.trim()];
  if (PYTHON_TRACE.test(line)) return pythonTop(lines, at);
  if (!ERROR_LINE.test(line)) return [];
  const frame = lines.slice(at + 1, at + 1 + NEAR).find((next) => FRAME.test(next));
  return frame === undefined ? [] : [`${line.trim()} ${frame.trim()}`];
}

/** The innermost frame is last, just before the error. */
function pythonTop(lines: readonly string[], at: number): readonly string[] {
  let frame = '';
  for (const line of lines.slice(at + 1, at + 400)) {
    if (FRAME.test(line)) frame = line.trim();
    else if (line !== '' && !/^\s/.test(line)) return [`${line} ${frame}`.trim()];
  }
  return [];
}

function shortened(row: string): string {
  return row.length <= MAX_ROW_CHARACTERS ? row : `${row.slice(0, MAX_ROW_CHARACTERS - 1)}…`;
}
