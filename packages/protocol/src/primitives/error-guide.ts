/** What each error code means to a caller and what usually helps. Shown by `tool-runtime explain` and in docs/errors.md. */
import type { ErrorCode } from './errors.ts';

export interface ErrorAdvice {
  /** One sentence: what happened, from the caller's side. */
  readonly meaning: string;
  /** The step that usually helps. */
  readonly next: string;
}

export const ERROR_GUIDE: Readonly<Record<ErrorCode, ErrorAdvice>> = {
  E_FILE_IO: {
    meaning: 'A file or folder could not be read or changed as asked; nothing was left half written.',
    next: 'Look at `path`: it may be missing, already there, of another type, or changed since it was read. Read it again and repeat the call with what is there now.',
  },
  E_AST_PARSE: {
    meaning: 'A source file does not parse; a change that caused it was undone.',
    next: 'Correct the syntax at the line in `details` and send the change again.',
  },
  E_AST_EDIT: {
    meaning: 'A structural edit could not be made: its target is gone, stale or does not allow the operation.',
    next: 'Query the syntax tree again for a current node and repeat the edit with it.',
  },
  E_VALIDATION_FAIL: {
    meaning:
      'The arguments, the envelope or the configuration break their schema, or a rule of the project refused the change.',
    next: 'Correct the field named in `path`; where `details.rule` is given, satisfy that rule. `details.next` says what would pass.',
  },
  E_GIT: {
    meaning: 'Git ran and refused or could not finish the operation; the repository was left as it was.',
    next: "Read git's own words in `details`; resolve conflicts, stage something or fix the reference, then repeat.",
  },
  E_HTTP: {
    meaning:
      'No HTTP answer arrived: the name, connection, encryption or transfer failed. A status such as 404 is data, not this error.',
    next: 'Check the address and whether the server can be reached; a repeat may help if the failure was on the way.',
  },
  E_SHELL: {
    meaning:
      'A command could not be started or was ended by a signal. An exit code other than 0 is data, not this error.',
    next: 'Check that the program is installed and the working directory exists; `details` names the signal or reason.',
  },
  E_POLICY: {
    meaning:
      'The call is not allowed, or names a tool or session this runtime does not know; nothing was executed, save where only the answer was withheld.',
    next: 'Do not repeat it unchanged. `details.rule` and `details.registry` name the line that decided; ask the operator to change it, or take the way named in `details.next`.',
  },
  E_TIMEOUT: {
    meaning: 'The call, or its wait for a lock or an approval, took longer than its limit and was stopped.',
    next: 'Ask for less at once or, up to the operator’s maximum, raise the time limit; check what a stopped change left before repeating it.',
  },
  E_INTERNAL: {
    meaning:
      'The call was cancelled, where `details.reason` is `cancelled`. Otherwise the runtime failed or could not write its journal.',
    next: 'Do not assume that nothing happened: look the call up with `tool-runtime audit show`. Send a cancelled call again if it is still wanted; report a failure that happens again with the call id.',
  },
};
