/**
 * Names of branches and revisions as callers write them: checked before git sees them; names that look like options are
 * refused.
 */
import type { ToolError } from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';
import { gitFailure } from './git-failure.ts';

const MAX_NAME = 250;
/** What git's own rules for references forbid, and control characters. */
const FORBIDDEN = /[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|\/$|^\/|\.$|\.lock(?:\/|$)|(?:^|\/)\./;

export interface PushSpec {
  /** Undefined: the destination is deleted. */
  readonly source: string | undefined;
  /** Full name, `refs/heads/…` or `refs/tags/…`; undefined: the source's own name. */
  readonly destination: string | undefined;
  readonly force: boolean;
}

/** Throws E_GIT unless the name could be a branch. */
export function checkBranchName(name: string, argument: string): string {
  const isBad =
    name === '' ||
    name === '@' ||
    name === 'HEAD' ||
    name.startsWith('-') ||
    name.length > MAX_NAME ||
    FORBIDDEN.test(name);
  if (isBad) throw badName('Branch name is not valid', name, argument);
  return name;
}

/** Throws E_GIT unless the text could name a revision on one line that git cannot take for an option. */
export function checkRevision(text: string, argument: string): string {
  if (text === '' || text.startsWith('-') || text.length > MAX_NAME || /[\x00-\x1f\x7f]/.test(text)) {
    throw badName('Revision is not valid', text, argument);
  }
  return text;
}

export function checkRemoteName(name: string): string {
  if (name === '' || name.startsWith('-') || name.length > MAX_NAME || FORBIDDEN.test(name)) {
    throw gitFailure(`Remote is not a configured name: ${safeText(name, 120)}`, {
      path: 'remote',
      reason: 'bad_remote',
      next: 'name a remote of the repository, such as origin; addresses are not accepted',
    });
  }
  return name;
}

function badName(what: string, name: string, argument: string): ToolError {
  return gitFailure(`${what}: ${safeText(name, 120)}`, {
    path: argument,
    reason: 'bad_name',
    next: 'use letters, digits, -, _, . and /; do not begin with a dash',
  });
}

/** Parses and checks a push refspec: plain names only, and what it does. */
export function parsePushSpec(text: string): PushSpec {
  const force = text.startsWith('+');
  const body = force ? text.slice(1) : text;
  const parts = body.split(':');
  if (parts.length > 2 || body === '' || body.includes('*')) throw badRefspec(text);
  const [source = '', destination] = parts;
  if (destination === '' || (source === '' && destination === undefined)) throw badRefspec(text);
  return {
    source: source === '' ? undefined : checkRevision(source, 'ref'),
    destination: destination === undefined ? undefined : fullName(destination, text),
    force,
  };
}

/** A push may only write a branch or a tag. */
function fullName(name: string, text: string): string {
  const short = name.replace(/^refs\/(?:heads|tags)\//, '');
  if (short.startsWith('refs/')) throw badRefspec(text);
  checkBranchName(short, 'ref');
  return name.startsWith('refs/') ? name : `refs/heads/${name}`;
}

function badRefspec(text: string) {
  return gitFailure(`Refspec is not valid: ${safeText(text, 120)}`, {
    path: 'ref',
    reason: 'bad_refspec',
    next: 'write a branch (main) or source:destination (HEAD:refs/heads/feature); no wildcards',
  });
}
