/**
 * Checks the files git keeps in its folder while a merge, rebase, cherry-pick, revert, am or bisect is unfinished.
 *
 * Git believes these files: a to-do list can run commands, a strategy is the name of a program, a list of references is
 * deleted at the end, a link is followed. So each has a known name, is a regular file and holds what git itself writes.
 */
import type { ToolError } from '@tool-runtime/protocol';
import { policyDenial } from '../contracts/failures.ts';
import { checkBranchName } from './ref-names.ts';

/** What lies at a name in the git folder. */
export interface StateEntry {
  /** Relative to the git folder. */
  readonly name: string;
  readonly type: 'file' | 'directory' | 'symlink' | 'other';
  /** Of state files, at most `MAX_STATE_FILE` bytes and one. */
  readonly bytes?: Buffer | undefined;
}

export const STATE_FOLDERS: readonly string[] = ['rebase-merge', 'rebase-apply', 'sequencer'];
export const MAX_STATE_FILE = 16 * 1024 * 1024;

interface Form {
  holds(content: string): boolean;
  /** What a file is for, when it does not hold that. */
  readonly what: string;
  /** Giving up reads it too; without this, git_abort is a way out. */
  readonly onAbort?: true;
  readonly reason?: string;
}

const HASH = '(?:[0-9a-f]{64}|[0-9a-f]{40})';
/** The files are read as latin1, so that every byte is one character. */
const REF = '[^#~^:?*\\[\\\\\\x00-\\x20\\x7f-][^~^:?*\\[\\\\\\x00-\\x20\\x7f]*';
const REST = '(?:[ \\t][^\\n\\r\\0]*)?';
const HEX = '[0-9a-f]{4,64}';

const STEPS = [
  '#[^\\n\\0]*',
  `(?:pick|p|edit|e|reword|r|squash|s|drop|d|revert)[ \\t]+${HEX}${REST}`,
  `(?:fixup|f)(?:[ \\t]+-[cC])?[ \\t]+${HEX}${REST}`,
  '(?:noop|break|b)',
  `(?:label|l)[ \\t]+${REF}`,
  `(?:reset|t)[ \\t]+(?:${REF}|\\[new root\\])${REST}`,
  `(?:merge|m)(?:[ \\t]+-[cC][ \\t]+${HEX})?(?:[ \\t]+${REF})+(?:[ \\t]+#[^\\n\\r\\0]*)?`,
];
/** Options of the built-in strategies that take nothing away from either side. */
const STRATEGY_OPTION =
  '(?:patience|histogram|minimal|ignore-space-change|ignore-all-space|ignore-space-at-eol|ignore-cr-at-eol|renormalize|no-renormalize|no-renames|find-renames(?:=\\d+%?)?|rename-threshold=\\d+%?|diff-algorithm=(?:patience|minimal|histogram|myers))';
const STRATEGY = '(?:ort|recursive)';
const OPTION = `(?:(?:no-commit|edit|allow-empty|allow-empty-message|keep-redundant-commits|signoff|record-origin|allow-ff|allow-rerere-auto) = (?:true|false)|mainline = \\d+|strategy = ${STRATEGY}|strategy-option = ${STRATEGY_OPTION}|default-msg-cleanup = [a-z]+)`;
const QUOTED = "'(?:[^'\\0]|'\\\\''|'\\\\!')*'";

const todo: Form = { holds: lines(STEPS.join('|')), what: 'is a list of commits to replay, and nothing else' };
const hash: Form = { holds: whole(HASH), what: 'names one object', onAbort: true };
const hashOrNothing: Form = { holds: whole(`(?:${HASH})?`), what: 'names one object', onAbort: true };
const count: Form = { holds: whole('\\d{1,9}'), what: 'is a number' };
const flag: Form = { holds: whole('[a-z-]{0,40}'), what: 'is a switch', onAbort: true };
const text: Form = { holds: () => true, what: 'is text', onAbort: true };
const pairs: Form = { holds: lines(`(?:${HASH}(?: ${HASH})?)`), what: 'lists commits', onAbort: true };
const author: Form = {
  holds: whole(`GIT_AUTHOR_NAME=${QUOTED}\nGIT_AUTHOR_EMAIL=${QUOTED}\nGIT_AUTHOR_DATE=${QUOTED}`),
  what: 'names the author of a commit',
};
const headName: Form = {
  holds: whole(`(?:refs/heads/${REF}|detached HEAD)`),
  what: 'names the branch',
  onAbort: true,
};
const shared: Readonly<Record<string, Form>> = {
  'head-name': headName,
  onto: hash,
  'orig-head': hash,
  autostash: hash,
  quiet: flag,
  verbose: flag,
  signoff: flag,
  'author-script': author,
  strategy: { holds: whole(STRATEGY), what: 'names a merge strategy that is built in and drops nothing' },
  strategy_opts: {
    holds: whole(`(?: ?'?(?:--)?${STRATEGY_OPTION}'?)*`),
    what: 'holds options of a merge that drop nothing',
  },
  gpg_sign_opt: { holds: whole(''), what: 'asks for a signature, which would start a program' },
  allow_rerere_autoupdate: { holds: whole('(?:--(?:no-)?rerere-autoupdate)?'), what: 'is a switch' },
};

const FORMS: Readonly<Record<string, Form>> = {
  MERGE_HEAD: { ...hash, holds: lines(HASH) },
  MERGE_MODE: { holds: whole('(?:no-ff)?'), what: 'is the mode of a merge' },
  MERGE_MSG: text,
  MERGE_RR: { holds: each('\0', `(?:${HASH}(?:\\.\\d+)?\\t[^\\0]+)?`), what: 'lists recorded conflicts' },
  MERGE_AUTOSTASH: hash,
  SQUASH_MSG: text,
  CHERRY_PICK_HEAD: hash,
  REVERT_HEAD: hash,
  REBASE_HEAD: hash,
  AUTO_MERGE: hash,
  ORIG_HEAD: hash,
  BISECT_HEAD: hash,
  BISECT_EXPECTED_REV: hash,
  BISECT_ANCESTORS_OK: flag,
  BISECT_FIRST_PARENT: flag,
  BISECT_LOG: text,
  BISECT_NAMES: text,
  BISECT_RUN: text,
  BISECT_START: text,
  BISECT_TERMS: { holds: lines('[\\w-]{0,100}'), what: 'names the terms of a bisection', onAbort: true },
  ...below('rebase-merge', {
    ...shared,
    'git-rebase-todo': todo,
    'git-rebase-todo.backup': todo,
    done: todo,
    msgnum: count,
    end: count,
    message: text,
    'message-squash': text,
    'message-fixup': text,
    patch: text,
    'current-fixups': { holds: lines(`(?:(?:fixup|squash)(?: -[cC])? ${HASH})`), what: 'lists commits' },
    amend: hash,
    'stopped-sha': hash,
    'squash-onto': hash,
    'rewritten-list': pairs,
    'rewritten-pending': pairs,
    'refs-to-delete': {
      holds: lines(`(?:refs/rewritten/${REF})`),
      what: 'lists labels of this rebase',
      onAbort: true,
    },
    'update-refs': { holds: whole(''), what: 'moves further branches' },
    interactive: flag,
    force_rewrite: flag,
    cdate_is_adate: flag,
    ignore_date: flag,
    drop_redundant_commits: flag,
    keep_redundant_commits: flag,
    'reschedule-failed-exec': flag,
    'no-reschedule-failed-exec': flag,
  }),
  ...below('rebase-apply', {
    ...shared,
    applying: flag,
    rebasing: flag,
    'abort-safety': hashOrNothing,
    'apply-opt': {
      holds: whole(
        "(?: ?'(?:--whitespace=[a-z-]+|-C\\d+|-p\\d+|--ignore-whitespace|--ignore-space-change|--reject)')*",
      ),
      what: 'holds options of git apply',
    },
    'final-commit': text,
    info: text,
    msg: text,
    'msg-clean': text,
    patch: text,
    'patch-merge-index': text,
    last: count,
    next: count,
    'original-commit': hash,
    rewritten: pairs,
    dirtyindex: flag,
    keep: flag,
    messageid: flag,
    'quoted-cr': flag,
    scissors: flag,
    sign: flag,
    threeway: flag,
    utf8: flag,
  }),
  ...below('sequencer', {
    todo,
    head: hash,
    'abort-safety': hashOrNothing,
    opts: { holds: lines(`(?:\\[options\\]|\\t${OPTION})`), what: 'holds options that drop and sign nothing' },
  }),
};
const MAIL = /^rebase-apply\/\d{4,8}$/;

/** Whether a file of the top of the git folder is one of those checked by content. */
export function isStateFile(name: string): boolean {
  return Object.hasOwn(FORMS, name);
}

/** Throws E_POLICY for the first entry git would not have left there. `aborting`: what only going on reads may be bad. */
export function judgeState(entries: readonly StateEntry[], { aborting }: { readonly aborting: boolean }): void {
  for (const entry of entries) {
    const problem = problemOf(entry);
    if (problem !== undefined && !(aborting && problem.onAbort !== true)) throw refusal(entry.name, problem);
  }
}

interface Problem {
  readonly why: string;
  readonly onAbort?: true | undefined;
  readonly reason?: string;
}

function problemOf({ name, type, bytes }: StateEntry): Problem | undefined {
  // Hooks never run, so it does not matter where they are.
  if (type === 'symlink') return name === 'hooks' ? undefined : { why: 'it is a link', onAbort: true };
  const form = FORMS[name] ?? (MAIL.test(name) ? text : undefined);
  if (form === undefined) {
    return name.includes('/') ? { why: 'git does not write a file of this name', onAbort: true } : undefined;
  }
  if (type !== 'file' || bytes === undefined) return { why: 'it is not a regular file', onAbort: true };
  if (bytes.length > MAX_STATE_FILE) return { why: 'it is too large', onAbort: true };
  const content = bytes.toString('latin1');
  if (form.holds(content) && (form !== headName || isBranch(content))) return undefined;
  if (form === todo && /^[ \t]*(?:x|exec)[ \t]/m.test(content)) {
    return { why: 'it runs commands; those are for shell_exec', reason: 'rebase_exec' };
  }
  return { why: `git writes a file here that ${form.what}`, onAbort: form.onAbort };
}

function isBranch(content: string): boolean {
  const name = /^refs\/heads\/(.*?)\n?$/.exec(Buffer.from(content, 'latin1').toString('utf8'))?.[1];
  if (name === undefined) return true;
  try {
    checkBranchName(name, 'branch');
    return true;
  } catch {
    return false;
  }
}

function refusal(name: string, { why, onAbort, reason = 'operation_state' }: Problem): ToolError {
  const path = `.git/${name}`;
  return policyDenial(`An unfinished operation cannot be trusted, ${why}: ${path}`, {
    path,
    details: {
      gate: 'git',
      reason,
      file: path,
      next:
        onAbort === true
          ? `go back to an earlier point with git_recover, or look at ${path} and remove it by hand`
          : `give the operation up with git_abort, go back with git_recover, or finish it by hand after a look at ${path}`,
    },
  });
}

/** Longer than anything git writes where it is not free text. */
const MAX_LINE = 64 * 1024;

function whole(source: string): Form['holds'] {
  const form = new RegExp(`^(?:${source})\\n?$`);
  return (content) => content.length <= MAX_LINE && form.test(content);
}

function lines(source: string): Form['holds'] {
  return each('\n', `(?:${source})\\r?`);
}

function each(end: string, source: string): Form['holds'] {
  const form = new RegExp(`^(?:${source})$`);
  return (content) => content.split(end).every((line) => line === '' || (line.length <= MAX_LINE && form.test(line)));
}

function below(folder: string, forms: Readonly<Record<string, Form>>): Readonly<Record<string, Form>> {
  return Object.fromEntries(Object.entries(forms).map(([name, form]) => [`${folder}/${name}`, form]));
}
