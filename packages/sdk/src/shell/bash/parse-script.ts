/**
 * The grammar of bash, read for one purpose: to list the simple commands of a script, wherever they are in it.
 *
 * What bash refuses may pass here. What bash runs and this cannot read ends with a problem, never silently.
 */
import {
  type Findings,
  type Heredoc,
  type InputText,
  type RawCommand,
  ScriptProblem,
  type ScriptWord,
} from './script-parts.ts';
import { WordReader } from './script-words.ts';

export interface ParsedScript {
  readonly commands: readonly RawCommand[];
  readonly functions: ReadonlySet<string>;
  readonly evaluated: readonly number[];
  /** Set when the script could not be read to its end. */
  readonly problem: { readonly message: string; readonly at: number } | undefined;
}

export function parseScript(text: string): ParsedScript {
  const steps = 1000 + text.length * 8;
  const findings: Findings = { commands: [], functions: new Set(), evaluated: [], steps, depth: 0 };
  let problem: ParsedScript['problem'];
  try {
    new ScriptParser(text, findings, 0).readAll();
  } catch (thrown) {
    if (!(thrown instanceof ScriptProblem)) throw thrown;
    problem = { message: thrown.message, at: thrown.at };
  }
  const { commands, functions, evaluated } = findings;
  return { commands: commands.toSorted((left, right) => left.at - right.at), functions, evaluated, problem };
}

const TOKEN = /[^\s;&|<>()'"\\$`]+(?=[\s;&|<>()]|$)/y;
const REDIRECTION = /(?:\d+|\{[A-Za-z_]\w*\})?(?:<<<|<<-|<<|<>|<&|<(?!\()|>>|>\||>&|>(?!\()|&>>|&>)/y;
const ASSIGNMENT = /^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=/;
const NO_COMMAND: ReadonlySet<string> = new Set('then elif else fi do done esac in }'.split(' '));

class ScriptParser extends WordReader {
  protected inner(text: string, at: number): ScriptParser {
    return new ScriptParser(text, this.findings, this.base + at);
  }

  readAll(): void {
    this.readList(() => false);
    if (this.at < this.text.length) throw this.problem(`${this.next} is out of place`);
  }

  protected readList(isEnd: () => boolean): void {
    for (;;) {
      this.skipLineBreaks();
      if (this.at >= this.text.length || isEnd()) return;
      this.readAndOr();
      this.skipBlanks();
      if (this.at >= this.text.length || isEnd()) return;
      const isSeparated = this.next === '\n' || (!this.startsWith(';;') && this.match(/[;&]/y) !== undefined);
      if (!isSeparated) throw this.problem(`${this.next} is out of place`);
      if (this.next !== '\n') this.at++;
    }
  }

  private readAndOr(): void {
    for (;;) {
      this.readPipeline();
      this.skipBlanks();
      if (!this.skipIf('&&') && !this.skipIf('||')) return;
      this.skipLineBreaks();
    }
  }

  private readPipeline(): void {
    for (;;) {
      this.skipPrefixes();
      this.readCommand();
      this.skipBlanks();
      if (this.startsWith('||') || !(this.skipIf('|&') || this.skipIf('|'))) return;
      this.skipLineBreaks();
    }
  }

  private skipPrefixes(): void {
    for (;;) {
      this.skipBlanks();
      const found = this.match(/!(?=[\s(])|time(?:[ \t]+-p)?(?=[\s;|&]|$)/y);
      if (found === undefined) return;
      this.at += found.length;
    }
  }

  private readCommand(): void {
    this.countStep();
    if (this.next === '(') {
      if (!this.startsWith('((') || !this.readDoubleParenthesis()) this.readGroup('(', ')');
      this.readRedirections();
      return;
    }
    const token = this.match(TOKEN) ?? '';
    const read = Object.hasOwn(COMPOUND, token) ? COMPOUND[token] : undefined;
    if (read === undefined) {
      if (NO_COMMAND.has(token)) throw this.problem(`${token} is out of place`);
      this.readSimple();
      return;
    }
    this.at += token.length;
    read(this);
    this.readRedirections();
  }

  private readGroup(open: string, close: string): void {
    this.expect(open);
    this.readBody(() => (close === ')' ? this.next === close : this.match(TOKEN) === close));
    this.expect(close);
  }

  private readBody(isEnd: () => boolean): void {
    this.deeper(() => this.readList(isEnd));
  }

  /** Commands up to one of these words, which is read too. */
  private readUntil(...words: readonly string[]): string {
    this.readBody(() => words.includes(this.match(TOKEN) ?? ''));
    const word = this.match(TOKEN) ?? '';
    if (!words.includes(word)) throw this.problem(`${words[0]} is missing`);
    this.at += word.length;
    return word;
  }

  readIf(): void {
    this.readUntil('then');
    for (;;) {
      const word = this.readUntil('fi', 'elif', 'else');
      if (word === 'fi') return;
      if (word === 'elif') this.readUntil('then');
    }
  }

  readWhile(): void {
    this.readUntil('do');
    this.readUntil('done');
  }

  readFor(): void {
    this.skipBlanks();
    if (this.startsWith('((')) {
      if (!this.readDoubleParenthesis()) throw this.problem(')) is missing');
    } else {
      this.readWord();
      this.skipLineBreaks();
      if (this.match(TOKEN) === 'in') {
        this.at += 2;
        this.readWords();
      }
    }
    this.skipBlanks();
    this.skipIf(';');
    this.skipLineBreaks();
    if (this.match(TOKEN) === '{') {
      this.readGroup('{', '}');
      return;
    }
    if (this.match(TOKEN) !== 'do') throw this.problem('do is missing');
    this.at += 2;
    this.readUntil('done');
  }

  readCase(): void {
    this.skipBlanks();
    this.readWord();
    this.skipLineBreaks();
    if (this.match(TOKEN) !== 'in') throw this.problem('in is missing');
    this.at += 2;
    for (;;) {
      this.skipLineBreaks();
      if (this.match(TOKEN) === 'esac') break;
      this.skipIf('(');
      this.readPatterns();
      this.readBody(() => this.match(/;;&?|;&|esac(?=[\s;&|<>()]|$)/y) !== undefined);
      if (!this.skipIf(';;&') && !this.skipIf(';;') && !this.skipIf(';&')) break;
    }
    this.expect('esac');
  }

  private readPatterns(): void {
    do {
      this.skipBlanks();
      this.readWord();
      this.skipBlanks();
    } while (this.skipIf('|'));
    this.expect(')');
  }

  readConditions(): void {
    for (;;) {
      this.skipLineBreaks();
      if (this.at >= this.text.length) throw this.problem(']] is missing');
      if (this.match(TOKEN) === ']]') break;
      const isWord = this.match(/[^;&|<>()]|[<>]\(/y) !== undefined;
      if (isWord) this.readWord();
      else this.at++;
    }
    this.at += 2;
  }

  readFunction(): void {
    this.skipBlanks();
    const { raw } = this.readWord();
    this.at += this.match(/[ \t]*\([ \t]*\)/y)?.length ?? 0;
    this.readFunctionBody(raw);
  }

  readCoprocess(): void {
    this.at += this.match(/[ \t]+[A-Za-z_]\w*[ \t]+(?=[{(])/y)?.length ?? 0;
    this.skipBlanks();
    this.deeper(() => this.readCommand());
  }

  readBraces(): void {
    this.at--;
    this.readGroup('{', '}');
  }

  private readFunctionBody(name: string): void {
    this.findings.functions.add(name);
    this.skipLineBreaks();
    this.deeper(() => this.readCommand());
  }

  private readWords(): void {
    for (;;) {
      this.skipBlanks();
      const isWord = this.at < this.text.length && this.match(/[^\n;&|<>()]|[<>]\(/y) !== undefined;
      if (!isWord) return;
      this.readWord();
    }
  }

  private readSimple(): void {
    const start = this.at;
    const words: ScriptWord[] = [];
    let input: InputText | undefined;
    for (;;) {
      this.skipBlanks();
      const operator = this.match(REDIRECTION);
      if (operator !== undefined) {
        const read = this.readRedirection(operator);
        input = read ?? input;
        continue;
      }
      if (this.at >= this.text.length || this.match(/[\n;&|()]/y) !== undefined) break;
      const word = this.readWord();
      if (words.length > 0 || !ASSIGNMENT.test(word.raw)) words.push(word);
      const isFunction = words.length === 1 ? this.match(/[ \t]*\([ \t]*\)/y) : undefined;
      if (isFunction !== undefined) {
        this.at += isFunction.length;
        this.readFunctionBody(word.raw);
        return;
      }
    }
    if (this.at === start) throw this.problem(`${this.next || 'the end'} is out of place`);
    if (words.length > 0) this.findings.commands.push({ words, input, at: this.base + start });
  }

  private readRedirections(): void {
    for (;;) {
      this.skipBlanks();
      const operator = this.match(REDIRECTION);
      if (operator === undefined) return;
      this.readRedirection(operator);
    }
  }

  /** What it gives as input, when it is a text. */
  private readRedirection(operator: string): InputText | undefined {
    this.at += operator.length;
    this.skipBlanks();
    if (this.at >= this.text.length || this.next === '\n') throw this.problem('a redirection leads nowhere');
    const word = this.readWord();
    if (operator.endsWith('<<<')) return { body: word.text };
    if (!operator.includes('<<')) return undefined;
    const heredoc: Heredoc = {
      delimiter: word.text ?? word.raw,
      isQuoted: /['"\\]/.test(word.raw),
      stripsTabs: operator.endsWith('-'),
      body: undefined,
    };
    this.heredocs.push(heredoc);
    return heredoc;
  }

  private skipBlanks(): void {
    this.at += this.match(/(?:[ \t]|\\\n)*/y)?.length ?? 0;
    const isStart = this.at === 0 || /[\s;&|()]/.test(this.text.charAt(this.at - 1));
    if (this.next === '#' && isStart) this.at += this.match(/[^\n]*/y)?.length ?? 0;
  }

  private skipLineBreaks(): void {
    this.skipBlanks();
    while (this.next === '\n') {
      this.readLineBreak();
      this.skipBlanks();
    }
  }
}

const COMPOUND: Readonly<Record<string, (parser: ScriptParser) => void>> = {
  if: (parser) => parser.readIf(),
  while: (parser) => parser.readWhile(),
  until: (parser) => parser.readWhile(),
  for: (parser) => parser.readFor(),
  select: (parser) => parser.readFor(),
  case: (parser) => parser.readCase(),
  function: (parser) => parser.readFunction(),
  coproc: (parser) => parser.readCoprocess(),
  '{': (parser) => parser.readBraces(),
  '[[': (parser) => parser.readConditions(),
};
