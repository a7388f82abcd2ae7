/**
 * The words of a bash script: quotes, expansions and substitutions, as bash reads them.
 *
 * Nothing is expanded. A word means its own text or is computed when it runs; commands inside substitutions are read
 * like any others.
 */
import { ansiText, type Findings, type Heredoc, ScriptProblem, type ScriptWord, WordText } from './script-parts.ts';

const MAX_DEPTH = 100;
/** What an attempt costs that came to nothing: attempts inside attempts double the work. */
const FAILED_ATTEMPT = 200;
const META = ' \t\n;&|<>()';
const ASSIGNED = /^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=$/;
/** `${x#'}'}` quotes inside double quotes, `${x:-'}'}` does not. */
const PATTERN_OPERATORS = '#%/^,@';

export abstract class WordReader {
  protected at = 0;
  protected readonly heredocs: Heredoc[] = [];
  protected readonly text: string;
  protected readonly findings: Findings;
  /** Where the text begins in the whole script. */
  protected readonly base: number;

  constructor(text: string, findings: Findings, base: number) {
    this.text = text;
    this.findings = findings;
    this.base = base;
  }

  /** Reads commands up to where `isEnd` says stop, or to the end of the text. */
  protected abstract readList(isEnd: () => boolean): void;
  /** A reader of a text inside this one. */
  protected abstract inner(text: string, at: number): WordReader;
  abstract readAll(): void;

  protected problem(message: string): ScriptProblem {
    return new ScriptProblem(message, this.base + this.at);
  }

  protected get next(): string {
    return this.text.charAt(this.at);
  }

  protected startsWith(text: string): boolean {
    return this.text.startsWith(text, this.at);
  }

  protected skipIf(text: string): boolean {
    const isThere = this.startsWith(text);
    if (isThere) this.at += text.length;
    return isThere;
  }

  protected expect(text: string): void {
    if (!this.skipIf(text)) throw this.problem(`${text} is missing`);
  }

  protected match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    return pattern.exec(this.text)?.[0];
  }

  protected countStep(): void {
    this.findings.steps--;
    if (this.findings.steps < 0) throw this.problem('too many parts');
  }

  protected deeper(read: () => void): void {
    if (this.findings.depth >= MAX_DEPTH) throw this.problem('nested too deeply');
    this.findings.depth++;
    try {
      read();
    } finally {
      this.findings.depth--;
    }
  }

  /** Not called at a character that ends a word, except for the start of a process substitution. */
  protected readWord(): ScriptWord {
    this.countStep();
    const start = this.at;
    const word = new WordText();
    while (this.at < this.text.length) {
      const character = this.next;
      if (META.includes(character)) {
        if (!this.readInsideWord(start)) break;
        word.add(undefined);
      } else if (character === '\\') word.add(this.readEscape());
      else if (character === "'") word.add(this.readSingle());
      else if (character === '"') word.add(this.readDouble());
      else if (character === '$') word.add(this.readDollar(false));
      else if (character === '`') word.add(this.readBackticks(false));
      else {
        word.addPlain(character);
        this.at++;
      }
    }
    return { raw: this.text.slice(start, this.at), text: word.text };
  }

  /** A process substitution, the list of an array or an extended pattern: parentheses that belong to the word. */
  private readInsideWord(start: number): boolean {
    if (this.startsWith('<(') || this.startsWith('>(')) {
      this.at += 2;
      this.readSubstitution();
      return true;
    }
    if (this.next !== '(' || this.at === start) return false;
    const before = this.text.slice(start, this.at);
    const isArray = ASSIGNED.test(before);
    if (!isArray && (!/[?*+@!]$/.test(before) || before === '!')) return false;
    this.at++;
    this.deeper(() => this.readParenthesised());
    return true;
  }

  private readParenthesised(): void {
    for (;;) {
      if (this.at >= this.text.length) throw this.problem(') is missing');
      const character = this.next;
      if (character === ')') {
        this.at++;
        return;
      }
      if (character === '(') {
        this.at++;
        this.deeper(() => this.readParenthesised());
      } else if (META.includes(character) && !this.startsWith('<(') && !this.startsWith('>(')) this.at++;
      else this.readWord();
    }
  }

  private readEscape(): string {
    const escaped = this.text.charAt(this.at + 1);
    this.at = Math.min(this.at + 2, this.text.length);
    if (escaped === '\n') return '';
    return escaped === '' ? '\\' : escaped;
  }

  private readSingle(): string {
    const close = this.text.indexOf("'", this.at + 1);
    if (close === -1) throw this.problem("' is never closed");
    const inside = this.text.slice(this.at + 1, close);
    this.at = close + 1;
    return inside;
  }

  private readDouble(): string | undefined {
    const word = new WordText();
    this.at++;
    for (;;) {
      if (this.at >= this.text.length) throw this.problem('" is never closed');
      const character = this.next;
      if (character === '"') {
        this.at++;
        return word.text;
      }
      word.add(this.readQuoted(character, '$`"\\'));
    }
  }

  /** One piece of a text in which only `$`, backticks and some escapes mean something. */
  private readQuoted(character: string, escapable: string): string | undefined {
    if (character === '$') return this.readDollar(true);
    if (character === '`') return this.readBackticks(true);
    if (character !== '\\') {
      this.at++;
      return character;
    }
    const escaped = this.text.charAt(this.at + 1);
    if (escaped === '\n') {
      this.at += 2;
      return '';
    }
    const isEscape = escaped !== '' && escapable.includes(escaped);
    this.at += isEscape ? 2 : 1;
    return isEscape ? escaped : '\\';
  }

  /** The text it stands for, when that is known: `$'a'`, `$"a"`, a lone `$`. */
  private readDollar(isInDouble: boolean): string | undefined {
    this.countStep();
    const kind = this.text.charAt(this.at + 1);
    this.at++;
    if (kind === "'" && !isInDouble) return this.readAnsi();
    if (kind === '"' && !isInDouble) return this.readDouble();
    if (kind === '(') this.deeper(() => this.readDollarParenthesis());
    else if (kind === '{') this.deeper(() => this.readParameter(isInDouble));
    else if (kind === '[') this.deeper(() => this.readArithmetic(']'));
    else {
      const name = this.match(/[A-Za-z_]\w*|[0-9@*#?$!-]/y);
      if (name === undefined) return '$';
      this.at += name.length;
    }
    return undefined;
  }

  private readAnsi(): string {
    const found = this.match(/'(?:[^'\\]|\\[\s\S])*'/y);
    if (found === undefined) throw this.problem("' is never closed");
    this.at += found.length;
    return ansiText(found.slice(1, -1));
  }

  private readDollarParenthesis(): void {
    if (this.startsWith('((') && this.readDoubleParenthesis(isBalanced)) return;
    this.at++;
    this.readSubstitution();
  }

  /** After the opening parenthesis. */
  private readSubstitution(): void {
    this.deeper(() => this.readList(() => this.next === ')'));
    this.expect(')');
  }

  /**
   * `((`: arithmetic when the parenthesis that closes the inner one is followed by another. Otherwise nothing is read,
   * and it is a subshell in a subshell.
   */
  protected readDoubleParenthesis(isArithmetic: (inside: string) => boolean = () => true): boolean {
    const { commands } = this.findings;
    const [start, known, pending] = [this.at, commands.length, [...this.heredocs]];
    this.at++;
    try {
      this.readArithmetic(')');
      if (this.skipIf(')') && isArithmetic(this.text.slice(start + 2, this.at - 2))) return true;
    } catch (thrown) {
      if (!(thrown instanceof ScriptProblem) || this.findings.steps < 0) throw thrown;
    }
    this.findings.steps -= FAILED_ATTEMPT;
    this.at = start;
    commands.length = known;
    // A line break in between may have read those that were pending.
    this.heredocs.splice(0, this.heredocs.length, ...pending);
    return false;
  }

  /** From the opening bracket to behind the closing one. */
  private readArithmetic(close: ')' | ']'): void {
    const open = this.next;
    let depth = 0;
    for (;;) {
      if (this.at >= this.text.length) throw this.problem(`${close} is missing`);
      this.countStep();
      const character = this.next;
      if (character === open) depth++;
      if (character === close) depth--;
      if (character === '"') this.readDouble();
      else if (character === '\\') this.at += 2;
      else this.readQuoted(character, '');
      if (depth === 0) return;
    }
  }

  private readParameter(isInDouble: boolean): void {
    const start = this.at;
    this.at++;
    if (this.match(/[\s|]/y) !== undefined) {
      this.at++;
      this.readList(() => this.next === '}');
      this.expect('}');
      return;
    }
    const name = this.match(/!?#?(?:[A-Za-z_]\w*|[0-9]+|[@*#?$!-])?(?:\[[^\]]*\])?/y) ?? '';
    // A subscript may hold a substitution, so it is read again below.
    this.at += name.includes('[') ? name.indexOf('[') : name.length;
    const operator = this.text.charAt(start + 1 + name.length);
    const quotesSingle = !isInDouble || (operator !== '' && PATTERN_OPERATORS.includes(operator));
    this.readToBrace(quotesSingle, isInDouble);
    if (this.text.slice(start, this.at).endsWith('@P}')) this.findings.evaluated.push(this.base + start);
  }

  private readToBrace(quotesSingle: boolean, isInDouble: boolean): void {
    for (;;) {
      if (this.at >= this.text.length) throw this.problem('} is missing');
      const character = this.next;
      if (character === '}') {
        this.at++;
        return;
      }
      if (character === "'" && quotesSingle) this.readSingle();
      else if (character === '"') this.readDouble();
      else if (character === '\\') this.at = Math.min(this.at + 2, this.text.length);
      else if (!isInDouble && (this.startsWith('<(') || this.startsWith('>('))) {
        this.at += 2;
        this.readSubstitution();
      } else if (character === '$') this.readDollar(isInDouble);
      else this.readQuoted(character, '');
    }
  }

  /** Inside backticks a backslash protects the next `$`, backtick and backslash from the outer reading. */
  private readBackticks(isInDouble: boolean): undefined {
    this.countStep();
    const found = this.match(/`(?:[^`\\]|\\[\s\S])*`/y);
    if (found === undefined) throw this.problem('` is never closed');
    const inside = found.slice(1, -1).replace(isInDouble ? /\\([$`\\"])/g : /\\([$`\\])/g, '$1');
    this.deeper(() => this.inner(inside, this.at + 1).readAll());
    this.at += found.length;
    return undefined;
  }

  /** At a line break: behind it, and behind the texts of the here-documents that begin there. */
  protected readLineBreak(): void {
    this.at++;
    for (const heredoc of this.heredocs.splice(0)) this.readHeredoc(heredoc);
  }

  private readHeredoc(heredoc: Heredoc): void {
    const start = this.at;
    const lines: string[] = [];
    while (this.at < this.text.length) {
      const end = this.text.indexOf('\n', this.at);
      const written = this.text.slice(this.at, end === -1 ? undefined : end);
      const line = heredoc.stripsTabs ? written.replace(/^\t+/, '') : written;
      this.at = end === -1 ? this.text.length : end + 1;
      if (line === heredoc.delimiter) break;
      lines.push(`${line}\n`);
    }
    const body = lines.join('');
    heredoc.body = heredoc.isQuoted ? body : this.inner(body, start).readExpansions();
  }

  /** A text in which nothing but expansions means anything. Undefined when there are any. */
  readExpansions(): string | undefined {
    const word = new WordText();
    while (this.at < this.text.length) word.add(this.readQuoted(this.next, '$`\\'));
    return word.text;
  }
}

/**
 * What bash asks of `$((…))` before it takes it for arithmetic. It does not know that a `)` may belong to a pattern of
 * `case`: such a text is a subshell to it, and its first word a command.
 */
function isBalanced(inside: string): boolean {
  let depth = 0;
  for (const character of inside.replace(/\\[\s\S]|'[^']*'|"(?:[^"\\]|\\[\s\S])*"/g, '')) {
    if (character === '(') depth++;
    if (character === ')') depth--;
    if (depth < 0) return false;
  }
  return depth === 0;
}
