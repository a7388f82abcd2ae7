/** Ways to place a request: ours, programs everyone has, and the algorithms peers publish, restated here. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { applyPatch } from '../../packages/sdk/src/text/apply-patch.ts';
import { parseBeginPatch } from '../../packages/sdk/src/text/begin-patch.ts';
import { findPlaces } from '../../packages/sdk/src/text/edit-ladder.ts';
import { parseUnifiedDiff } from '../../packages/sdk/src/text/unified-diff.ts';
import type { Landing } from './cases.ts';

export interface Matcher {
  readonly name: string;
  readonly form: 'edit' | 'diff';
  /** The file afterwards; undefined for a refusal. */
  place(request: Landing): string | undefined;
}

const attempt = (action: () => string | undefined): string | undefined => {
  try {
    return action();
  } catch {
    return undefined;
  }
};

const fileEdit: Matcher = {
  name: 'file_edit',
  form: 'edit',
  place({ file, old, new: now }) {
    const [place, ...others] = findPlaces(file, { old, new: now })?.places ?? [];
    if (place === undefined || others.length > 0) return undefined;
    return file.slice(0, place.start) + place.text + file.slice(place.end);
  },
};

const filePatch: Matcher = {
  name: 'file_patch, unified diff',
  form: 'diff',
  place: ({ file, diff }) =>
    attempt(() => {
      const [patch] = parseUnifiedDiff(Buffer.from(diff ?? '')).files;
      return patch && applyPatch(Buffer.from(file), patch).bytes.toString();
    }),
};

const beginPatch: Matcher = {
  name: 'file_patch, *** Begin Patch',
  form: 'diff',
  place: ({ file, chunk = ['*** cut'] }) =>
    attempt(() => {
      const text = ['*** Begin Patch', '*** Update File: file', '@@', ...chunk, '*** End Patch', ''].join('\n');
      const [section] = parseBeginPatch(Buffer.from(text));
      return section && applyPatch(Buffer.from(file), section.patch).bytes.toString();
    }),
};

function replaceOnly(file: string, old: string, now: string): string | undefined {
  const at = file.indexOf(old);
  if (old === '' || at < 0 || file.indexOf(old, at + 1) >= 0) return undefined;
  return file.slice(0, at) + now + file.slice(at + old.length);
}

const exactUnique: Matcher = {
  name: 'exact and unique text',
  form: 'edit',
  place: ({ file, old, new: now }) => replaceOnly(file, old, now),
};

function program(name: string, command: readonly [string, ...string[]]): Matcher {
  return {
    name,
    form: 'diff',
    place({ file, diff }) {
      const folder = mkdtempSync(join(tmpdir(), 'landing-'));
      try {
        writeFileSync(join(folder, 'file'), file);
        writeFileSync(join(folder, 'diff'), diff ?? '');
        const [start, ...words] = command;
        const { status } = spawnSync(start, words, { cwd: folder, stdio: 'ignore' });
        return status === 0 ? readFileSync(join(folder, 'file'), 'utf8') : undefined;
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  };
}

/**
 * Codex: from the top, the first place that fits exactly, then without blanks at the ends, then trimmed, then with
 * plain punctuation.
 */
const codex: Matcher = {
  name: "Codex's apply_patch (restated)",
  form: 'diff',
  place({ file, chunk }) {
    if (chunk === undefined) return undefined;
    const side = (mark: string): string[] =>
      chunk.filter((line) => !line.startsWith(mark)).map((line) => line.slice(1));
    const [old, now] = [side('+'), side('-')];
    const lines = file.replaceAll('\r\n', '\n').replace(/\n$/, '').split('\n');
    const eol = file.includes('\r\n') ? '\r\n' : '\n';
    const plain = (line: string): string =>
      line
        .trim()
        .replace(/[\u2010-\u2015\u2212]/g, '-')
        .replace(/[\u2018-\u201b]/g, "'")
        .replace(/[\u201c-\u201f]/g, '"')
        .replace(/[\u00a0\u2002-\u200a\u202f\u205f\u3000]/g, ' ');
    const passes = [(line: string) => line, (line: string) => line.trimEnd(), (line: string) => line.trim(), plain];
    for (const pass of passes) {
      for (let at = 0; at + old.length <= lines.length; at++) {
        if (old.some((line, row) => pass(lines[at + row] ?? '') !== pass(line))) continue;
        return `${lines.toSpliced(at, old.length, ...now).join(eol)}${eol}`;
      }
    }
    return undefined;
  },
};

/** Every line with the indent of the first one exchanged for another. */
function indentedLike(text: string, indent: string): string {
  const own = /^[ \t]*/.exec(text)?.[0] ?? '';
  const moved = (line: string): string => indent + (line.startsWith(own) ? line.slice(own.length) : line.trimStart());
  return text
    .split('\n')
    .map((line) => (line.trim() === '' ? '' : moved(line)))
    .join('\n');
}

/** Gemini CLI: exact, then lines compared trimmed and indented like the first, then tokens with any white space between. */
const gemini: Matcher = {
  name: "Gemini CLI's replace (restated)",
  form: 'edit',
  place({ file, old, new: now }) {
    const [code, search, replacement] = [file, old, now].map((text) => text.replaceAll('\r\n', '\n')) as [
      string,
      string,
      string,
    ];
    const back = (text: string): string => (file.includes('\r\n') ? text.replaceAll('\n', '\r\n') : text);
    const count = code.split(search).length - 1;
    if (count > 0) return count === 1 ? back(code.replace(search, () => replacement)) : undefined;
    const lines = code.match(/.*(?:\n|$)/g)?.slice(0, -1) ?? [];
    const wanted = search.split('\n').map((line) => line.trim());
    let found = 0;
    for (let at = 0; at <= lines.length - wanted.length; ) {
      if (wanted.some((line, row) => (lines[at + row] ?? '').trim() !== line)) {
        at++;
        continue;
      }
      found++;
      const indent = /^[ \t]*/.exec(lines[at] ?? '')?.[0] ?? '';
      const end = lines[at + wanted.length - 1]?.endsWith('\n') && !replacement.endsWith('\n') ? '\n' : '';
      lines.splice(at, wanted.length, indentedLike(replacement, indent) + end);
      at++;
    }
    if (found > 0) return found === 1 ? back(lines.join('')) : undefined;
    const tokens = search
      .replace(/[():[\]{}><=]/g, ' $& ')
      .split(/\s+/)
      .filter((token) => token !== '');
    const pattern = tokens.map((token) => token.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('\\s*');
    const match = new RegExp(`^([ \t]*)${pattern}`, 'm').exec(code);
    if (match === null || tokens.length === 0) return undefined;
    const indented = indentedLike(replacement, match[1] ?? '');
    return back(code.slice(0, match.index) + indented + code.slice(match.index + match[0].length));
  },
};

type Candidates = (content: string, find: string) => readonly string[];

/** Runs of lines of the content, as many as the text has, for which `fits` holds. */
const windows = (
  content: string,
  find: string,
  fits: (run: readonly string[], wanted: readonly string[]) => boolean,
): string[] => {
  const [lines, wanted] = [content.split('\n'), find.split('\n')];
  if (wanted.at(-1) === '') wanted.pop();
  return [...lines.keys()]
    .filter((at) => at + wanted.length <= lines.length && fits(lines.slice(at, at + wanted.length), wanted))
    .map((at) => lines.slice(at, at + wanted.length).join('\n'));
};

const dedented = (lines: readonly string[]): string => {
  const indents = lines.filter((line) => line.trim() !== '').map((line) => /^\s*/.exec(line)?.[0].length ?? 0);
  const least = Math.min(...indents, Number.MAX_SAFE_INTEGER);
  return lines.map((line) => (line.trim() === '' ? line : line.slice(least))).join('\n');
};

/** Lines between the same first and last line; opencode's anchors, of which a single candidate is always taken. */
const anchored: Candidates = (content, find) => {
  const [lines, wanted] = [content.split('\n'), find.split('\n')];
  if (wanted.length < 3) return [];
  const found: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    if (lines[at]?.trim() !== wanted[0]?.trim()) continue;
    const end = lines.findIndex((line, row) => row >= at + 2 && line.trim() === wanted.at(-1)?.trim());
    if (end >= 0) found.push(lines.slice(at, end + 1).join('\n'));
  }
  return found.length === 1 ? found : [];
};

const REPLACERS: readonly Candidates[] = [
  (_, find) => [find],
  (content, find) =>
    windows(content, find, (run, wanted) => run.every((line, row) => line.trim() === wanted[row]?.trim())),
  anchored,
  (content, find) => {
    const plain = (text: string): string => text.replace(/\s+/g, ' ').trim();
    return windows(content, find, (run, wanted) => plain(run.join('\n')) === plain(wanted.join('\n')));
  },
  (content, find) => windows(content, find, (run, wanted) => dedented(run) === dedented(wanted)),
  (_, find) => [
    find.replace(
      /\\(n|t|r|'|"|`|\\|\n|\$)/g,
      (whole, name: string) => ({ n: '\n', t: '\t', r: '\r' })[name] ?? whole.slice(1),
    ),
  ],
  (_, find) => (find.trim() === find ? [] : [find.trim()]),
];

const opencode: Matcher = {
  name: "opencode's replacers (restated)",
  form: 'edit',
  place({ file, old: asked, new: wanted }) {
    const [old, now] = [asked, wanted].map((text) =>
      file.includes('\r\n') ? text.replaceAll('\n', '\r\n') : text,
    ) as [string, string];
    for (const replacer of REPLACERS) {
      for (const candidate of replacer(file, old)) {
        const result = replaceOnly(file, candidate, now);
        if (result !== undefined) return result;
      }
    }
    return undefined;
  },
};

export const OURS: readonly Matcher[] = [fileEdit, filePatch, beginPatch];

export const PEERS: readonly Matcher[] = [
  exactUnique,
  gemini,
  opencode,
  program('patch', ['patch', '--batch', '--silent', '--force', 'file', 'diff']),
  program('git apply', ['git', 'apply', '--unsafe-paths', 'diff']),
  codex,
];
