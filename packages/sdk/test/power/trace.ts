/** What strace says a process did to its files, in order. Paths are absolute; data is whole. */
export type Step =
  | { readonly op: 'create' | 'mkdir' | 'remove' | 'symlink'; readonly path: string }
  | { readonly op: 'write'; readonly path: string; readonly at: number | undefined; readonly bytes: Buffer }
  | { readonly op: 'truncate'; readonly path: string; readonly size: number }
  | { readonly op: 'link' | 'rename' | 'exchange'; readonly from: string; readonly to: string }
  /** `begin`: covers what was done before; `end`: it is on the disk. */
  | { readonly op: 'sync'; readonly phase: 'begin' | 'end'; readonly path: string; readonly id: string }
  | { readonly op: 'say'; readonly text: string };

export const STRACE = [
  ...['-f', '-y', '-xx', '-s', '10000000', '-e', 'signal=none', '-e'],
  'trace=openat,openat2,write,pwrite64,ftruncate,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir,link,linkat,symlink,symlinkat',
];

/** What several processes do to one disk is put in order by the times of their steps. */
export const TIMED_STRACE = ['-ttt', ...STRACE];

export interface TimedStep {
  readonly step: Step;
  /** In seconds, where the trace has times. */
  readonly at: number;
}

const LINE = /^(\d+)\s+(?:\d+\.\d+\s+)?(\w+)\((.*)\)\s+= (-?\d+)(?:<(.*)>)?/;
const TIME = /^\d+\s+(\d+\.\d+)\s/;
const HEX = /(?:\\x[0-9a-f]{2})+/g;
const DESCRIPTOR = /^(\d+)<([^>]*)>/;

export function parseTrace(text: string): readonly Step[] {
  return parseTimedTrace(text).map(({ step }) => step);
}

export function parseTimedTrace(text: string): readonly TimedStep[] {
  const opened = { paths: new Map<number, string>(), syncing: new Set<number>() };
  const open = new Map<string, { readonly text: string; readonly syncing: string | undefined }>();
  const timed: TimedStep[] = [];
  for (const raw of text.split('\n')) {
    const [, pid = ''] = /^(\d+)/.exec(raw) ?? [];
    const at = Number(TIME.exec(raw)?.[1] ?? 0);
    const push = (steps: readonly Step[]): void => void timed.push(...steps.map((step) => ({ step, at })));
    if (raw.includes('<unfinished ...>')) {
      const begun = raw.replace(/\s*<unfinished \.\.\.>.*/, '');
      const target = /^\d+\s+(?:\d+\.\d+\s+)?f(?:data)?sync\((\d+<[^>]*>)/.exec(begun)?.[1];
      const path = target === undefined ? undefined : pathOf(target, opened.paths);
      if (path !== undefined) push([{ op: 'sync', phase: 'begin', path, id: pid }]);
      open.set(pid, { text: begun, syncing: path });
      continue;
    }
    const begun = raw.includes(' resumed>') ? open.get(pid) : undefined;
    const rest = raw.replace(/^\d+\s+(?:\d+\.\d+\s+)?<\.\.\. \w+ resumed>/, '');
    const line = begun === undefined ? raw : begun.text + rest;
    const call = LINE.exec(line);
    if (call === null) continue;
    const [, , name = '', args = '', code = '', result] = call;
    if (Number(code) < 0) continue;
    if (result !== undefined) noteOpened(opened, Number(code), decode(result).toString(), args);
    if (begun?.syncing !== undefined) push([{ op: 'sync', phase: 'end', path: begun.syncing, id: pid }]);
    else push(stepsOf(name, splitArgs(args), opened, pid));
  }
  return timed;
}

interface Opened {
  readonly paths: Map<number, string>;
  /** Descriptors whose every write is a sync too. */
  readonly syncing: Set<number>;
}

function noteOpened({ paths, syncing }: Opened, fd: number, path: string, args: string): void {
  paths.set(fd, path);
  if (/\bO_D?SYNC\b/.test(args)) syncing.add(fd);
  else syncing.delete(fd);
}

function stepsOf(name: string, args: readonly string[], opened: Opened, id: string): readonly Step[] {
  const folders = opened.paths;
  const at = (index: number): string => pathOf(args[index] ?? '', folders) ?? '';
  const below = (index: number): string => resolve(at(index), text(args[index + 1] ?? ''), folders);
  const plain = (index: number): string => resolve('/', text(args[index] ?? ''), folders);
  const withSync = (write: Step & { op: 'write' }): readonly Step[] =>
    opened.syncing.has(Number.parseInt(args[0] ?? '', 10)) ? [write, ...syncOf(write.path, id)] : [write];
  switch (name) {
    case 'openat':
      return [
        ...((args[2] ?? '').includes('O_CREAT') ? [{ op: 'create', path: below(0) } as const] : []),
        ...((args[2] ?? '').includes('O_TRUNC') ? [{ op: 'truncate', path: below(0), size: 0 } as const] : []),
      ];
    case 'mkdir':
      return [{ op: 'mkdir', path: plain(0) }];
    case 'mkdirat':
      return [{ op: 'mkdir', path: below(0) }];
    case 'unlink':
    case 'rmdir':
      return [{ op: 'remove', path: plain(0) }];
    case 'unlinkat':
      return [{ op: 'remove', path: below(0) }];
    case 'symlink':
      return [{ op: 'symlink', path: plain(1) }];
    case 'link':
    case 'rename':
      return [{ op: name, from: plain(0), to: plain(1) }];
    case 'renameat':
    case 'renameat2':
      return [{ op: (args[4] ?? '').includes('EXCHANGE') ? 'exchange' : 'rename', from: below(0), to: below(2) }];
    case 'ftruncate':
      return [{ op: 'truncate', path: at(0), size: Number(args[1]) }];
    case 'write':
      if (args[0]?.startsWith('1<')) return [{ op: 'say', text: text(args[1] ?? '') }];
      return withSync({ op: 'write', path: at(0), at: undefined, bytes: decode(args[1] ?? '') });
    case 'pwrite64':
      return withSync({ op: 'write', path: at(0), at: Number(args[3]), bytes: decode(args[1] ?? '') });
    case 'fsync':
    case 'fdatasync':
      return syncOf(at(0), id);
    default:
      return [];
  }
}

function syncOf(path: string, id: string): readonly Step[] {
  return (['begin', 'end'] as const).map((phase) => ({ op: 'sync', phase, path, id }));
}

/** Strings are hex throughout, so a comma never stands inside one. */
function splitArgs(args: string): readonly string[] {
  return args.split(', ');
}

function decode(value: string): Buffer {
  const parts = value.match(HEX) ?? [];
  return Buffer.from(parts.join('').replaceAll('\\x', ''), 'hex');
}

function text(value: string): string {
  return decode(value).toString();
}

function pathOf(value: string, folders: Map<number, string>): string | undefined {
  const [, number, path] = DESCRIPTOR.exec(value) ?? [];
  if (number === undefined || path === undefined) return undefined;
  const shown = decode(path).toString();
  if (!value.endsWith('(deleted)')) folders.set(Number(number), shown);
  return value.endsWith('(deleted)') ? '' : shown;
}

function resolve(folder: string, path: string, folders: Map<number, string>): string {
  const [, number, rest] = /^\/proc\/self\/fd\/(\d+)\/(.*)$/.exec(path) ?? [];
  if (number !== undefined) return `${folders.get(Number(number)) ?? ''}/${rest}`;
  return path.startsWith('/') ? path : `${folder}/${path}`;
}
