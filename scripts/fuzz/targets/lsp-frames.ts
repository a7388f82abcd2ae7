/** What language servers say: any bytes end the server or are read, and no answer makes a question fail unexplained. */
import type { FuzzTarget } from '../fuzz-target.ts';
import { splitParts } from '../input-parts.ts';
import { askQuestions } from '../language-server/ask-questions.ts';
import { hearStream } from '../language-server/hear-stream.ts';
import { ROOT, serverOutput } from '../language-server/odd-output.ts';
import { openScene } from '../language-server/scene.ts';

export const lspFrames: FuzzTarget = {
  name: 'lsp-frames',
  holds:
    'a server that breaks frames is ended, one that does not is heard, and every question has an answer or a reason',
  maxBytes: 64 * 1024,
  tokens: [
    'Content-Length: ',
    'Content-Length: 2\r\n\r\n{}',
    'content-type: x\r\n',
    '\r\n\r\n',
    '\r\n',
    '\n',
    '"method":',
    '"id":',
    '"params":',
    '"result":',
  ].concat([
    '"jsonrpc":"2.0"',
    '$/cancelRequest',
    '$/progress',
    'null',
    '{}',
    '[]',
    `"${ROOT}/a.txt"`,
    '"file:///etc/passwd"',
    '\n%%\n',
    '"data":',
    '"children":[',
    '-1',
    '1e999',
  ]),
  inputs: serverOutput,
  open() {
    const scene = openScene();
    return {
      async check(input) {
        const [stream = input, answer = input] = splitParts(input, 2);
        const outcome = await hearStream(stream, scene);
        return answer.length === 0 ? outcome : `${outcome}, ${await askQuestions(answer.toString('utf8'), scene)}`;
      },
      close: () => scene.close(),
    };
  },
};
