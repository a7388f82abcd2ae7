/** What a program printed, without the colours and cursor moves of a terminal; of long output the failures come first, because they are what it is about. */
import { stripVTControlCharacters } from 'node:util';
import { callText, type TextPart, type ToolText } from '../contracts/tool-text.ts';
import { failuresIn } from './failures-in.ts';

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
