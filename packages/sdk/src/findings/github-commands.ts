/** Workflow commands of GitHub Actions (`::error file=…,line=…::message`), which many programs can print. */
import { type FindingFormat, type PrintedFinding, severityOf } from './command-finding.ts';

const COMMAND = /^\s*::(error|warning|notice) ([^:]+)::(.*)$/;
const ESCAPED = /%(25|0D|0A|3A|2C)/gi;
const PLAIN_CODE = /^[\w@/.:()-]+$/;

export const githubCommands: FindingFormat = {
  name: 'github-commands',
  open: () => (lines, at) => readCommand(lines[at] ?? ''),
};

function readCommand(line: string): PrintedFinding | undefined {
  const [, word, list = '', text = ''] = COMMAND.exec(line) ?? [];
  if (word === undefined) return undefined;
  const properties = new Map(list.split(',').map(readProperty));
  const title = properties.get('title');
  return {
    path: properties.get('file'),
    line: properties.get('line'),
    column: properties.get('col'),
    severity: severityOf(word),
    code: title !== undefined && PLAIN_CODE.test(title) ? title : undefined,
    message: unescaped(text).replace(/[\r\n]+/g, ' '),
  };
}

function readProperty(text: string): [string, string] {
  const at = text.indexOf('=');
  return at < 0 ? [text.trim(), ''] : [text.slice(0, at).trim(), unescaped(text.slice(at + 1))];
}

function unescaped(text: string): string {
  return text.replace(ESCAPED, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}
