/** Takes `a::b::{c, d as e, f::*}` apart: one part per imported name, with the path in front of it. */

export interface ImportTreeForm {
  /** Between the parts of a path. */
  readonly separator: string;
  /** The word that means the path itself inside a group. */
  readonly self?: string | undefined;
}

export interface ImportPart {
  readonly source: string;
  readonly name: string | undefined;
  readonly alias: string | undefined;
  readonly star: boolean;
}

export function splitImportTree(tree: string, form: ImportTreeForm): ImportPart[] {
  const parts: ImportPart[] = [];
  const pending: { readonly prefix: string; readonly rest: string }[] = [{ prefix: '', rest: tree }];
  for (let one = pending.pop(); one !== undefined; one = pending.pop()) {
    const rest = one.rest.replace(/\s+/g, ' ').trim();
    const brace = rest.indexOf('{');
    if (brace === -1) {
      if (rest !== '') parts.push(leaf(one.prefix, rest, form));
      continue;
    }
    const prefix = one.prefix + rest.slice(0, brace).trim();
    const inner = rest.slice(brace + 1, rest.lastIndexOf('}'));
    for (const piece of splitTopLevel(inner).reverse()) pending.push({ prefix, rest: piece });
  }
  return parts;
}

function leaf(prefix: string, rest: string, form: ImportTreeForm): ImportPart {
  const [written = '', alias] = rest.split(' as ').map((part) => part.trim());
  const self = form.self !== undefined && written === form.self && prefix !== '';
  const path = self ? prefix.slice(0, -form.separator.length) : prefix + written;
  const cut = path.lastIndexOf(form.separator);
  const last = cut === -1 ? path : path.slice(cut + form.separator.length);
  const source = cut === -1 ? path : path.slice(0, cut);
  const star = last === '*';
  return { source, name: star || cut === -1 ? undefined : last, alias, star };
}

/** Splits at commas outside inner groups. */
function splitTopLevel(text: string): string[] {
  const pieces: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '{') depth++;
    else if (text[at] === '}') depth--;
    else if (text[at] === ',' && depth === 0) {
      pieces.push(text.slice(from, at));
      from = at + 1;
    }
  }
  pieces.push(text.slice(from));
  return pieces;
}
