/** Parses and checks a push refspec: plain names only, and what it does. */
import { safeText } from '@tool-runtime/protocol/internal';
import { gitFailure } from './git-failure.ts';
import { checkBranchName, checkRevision } from './ref-names.ts';

export interface PushSpec {
  /** Undefined: the destination is deleted. */
  readonly source: string | undefined;
  /** Full name, `refs/heads/…` or `refs/tags/…`; undefined: the source's own name. */
  readonly destination: string | undefined;
  readonly force: boolean;
}

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

/** Where a push goes is a branch or a tag: nothing else of the remote is ours to write. */
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
