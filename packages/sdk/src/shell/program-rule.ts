/** The shape of the per-program rules: what turns an allowed program into a way to run others or to leave the workspace. */

/** How a program reads its options; see OPTION_SYNTAXES. */
export type OptionSyntax = 'getopt' | 'exact' | 'clap' | 'nopt' | 'words' | 'flag';

interface SyntaxTraits {
  /** `--to-c` is taken for `--to-command`, `ex` for the subcommand `exec`. */
  readonly abbreviates: boolean;
  /** `-xzI` is `-x -z -I`. */
  readonly bundles: boolean;
  /** `-prefix` and `--prefix` are the same. */
  readonly anyDashes: boolean;
  /** `--` always ends the options. False also where `--` may be the value of the option before it. */
  readonly endsAtDashes: boolean;
}

export const OPTION_SYNTAXES: Readonly<Record<OptionSyntax, SyntaxTraits>> = {
  getopt: { abbreviates: true, bundles: true, anyDashes: false, endsAtDashes: false },
  exact: { abbreviates: false, bundles: true, anyDashes: false, endsAtDashes: false },
  clap: { abbreviates: false, bundles: true, anyDashes: false, endsAtDashes: true },
  nopt: { abbreviates: true, bundles: true, anyDashes: true, endsAtDashes: true },
  words: { abbreviates: false, bundles: false, anyDashes: false, endsAtDashes: false },
  flag: { abbreviates: false, bundles: false, anyDashes: true, endsAtDashes: false },
};

export interface OptionRule {
  /** `--long`, `-s`, or `-exec*` for everything that begins so. */
  readonly names: readonly string[];
  /** The option has a value, in the same word or the next. */
  readonly takesValue?: true;
  /** Refused only with such a value: a path out of the workspace (`-`, standard input, counts), or what matches. */
  readonly when?: 'outside' | RegExp;
  /** Whole options that an abbreviation must not be taken for. */
  readonly except?: readonly string[];
  /** What it does: `runs a program on every file`. */
  readonly why: string;
}

export interface SubcommandRule {
  /** `exec`, or `config set` for a subcommand and a word somewhere behind it. */
  readonly names: readonly string[];
  readonly except?: readonly string[];
  readonly why: string;
}

export interface WordRule {
  readonly matches: RegExp;
  readonly why: string;
}

export interface ProgramRule {
  /** Lower case, without version (`python` speaks for `python3.12`). */
  readonly programs: readonly string[];
  /**
   * `exact`: refused unless a pattern is the whole command letter by letter. `anchored`: refused unless the pattern ends
   * with `$`.
   */
  readonly whole?: { readonly needs: 'exact' | 'anchored'; readonly why: string; readonly next?: string };
  /** The word that must come first, or the program is refused. */
  readonly firstArgument?: { readonly word: string; readonly why: string };
  readonly syntax?: OptionSyntax;
  /** Short options whose value may follow in the same word: what is behind them is no bundle. */
  readonly valueLetters?: string;
  /** All short options. Where long ones may have one dash, only words made of these are bundles. */
  readonly bundleLetters?: string;
  /** The first word is a bundle even without a dash (`tar xzf`). */
  readonly bareBundle?: true;
  /** Options end at the first operand: what follows belongs to the script. */
  readonly endsAtOperand?: true;
  /** As the first argument, ends the options. */
  readonly endsBehind?: string;
  readonly options?: readonly OptionRule[];
  readonly subcommands?: readonly SubcommandRule[];
  readonly words?: readonly WordRule[];
}
