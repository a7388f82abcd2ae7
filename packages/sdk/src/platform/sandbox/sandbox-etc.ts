/**
 * The /etc that programs in the sandbox see: a folder of ours, so that one mount stands for a dozen.
 *
 * It holds copies of what programs need to start and to trust certificates, and four small files that name only
 * the sandbox itself. It is built anew when one of its sources changes, and shared by every runtime of this user.
 */
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { sha256Hex } from '../digest.ts';
import { errnoCode } from '../errno-error.ts';
import { ENTRY_UNITS, Pace } from '../pace.ts';

const COPIED = [
  'alternatives',
  'ca-certificates',
  'ca-certificates.conf',
  'crypto-policies',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'localtime',
  'mime.types',
  'os-release',
  'pki/ca-trust/extracted',
  'pki/tls/cert.pem',
  'pki/tls/certs',
  'pki/tls/openssl.cnf',
  'protocols',
  'services',
  'ssl/cert.pem',
  'ssl/certs',
  'ssl/openssl.cnf',
  'terminfo',
  'timezone',
];
const READABLE_BY_ALL = 0o004;

export interface Inhabitant {
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
}

/** Answers the path of the folder, inside `parent`. */
export async function prepareEtc(parent: string, inhabitant: Inhabitant, source = '/etc'): Promise<string> {
  const written = writtenFiles(inhabitant);
  const stamps = COPIED.map((name) => stampOf(source, name));
  const folder = join(parent, `etc-${sha256Hex(JSON.stringify([written, stamps])).slice(0, 16)}`);
  if (!existsSync(folder)) await publish(folder, { parent, written, source });
  return folder;
}

interface Sources {
  readonly parent: string;
  readonly written: Readonly<Record<string, string>>;
  readonly source: string;
}

async function publish(folder: string, { parent, written, source }: Sources): Promise<void> {
  const draft = mkdtempSync(join(parent, 'draft-'));
  try {
    await copyAll(source, draft);
    for (const [name, content] of Object.entries(written)) writeFileSync(join(draft, name), content);
    renameSync(draft, folder);
  } catch (thrown) {
    rmSync(draft, { recursive: true, force: true });
    // Another runtime was first with the same content.
    if (!existsSync(folder)) throw thrown;
  }
}

/** Hundreds of tiny entries: each for itself would take longer on another thread than here, all at once too long. */
async function copyAll(source: string, draft: string): Promise<void> {
  const queue = COPIED.filter((name) => stampOf(source, name) !== null);
  for (const name of queue) mkdirSync(dirname(join(draft, name)), { recursive: true });
  const pace = new Pace(undefined);
  for (const name of queue) {
    queue.push(...copyEntry(join(source, name), join(draft, name)).map((inner) => join(name, inner)));
    if (pace.isDue(ENTRY_UNITS)) await pace.pause();
  }
}

/**
 * Answers the names inside a folder, which are still to be copied. Links stay links: they lead into the system folders,
 * which are at the same place in the sandbox. What not everyone may read is left out: as root we could read more than
 * anyone in the sandbox should.
 */
function copyEntry(from: string, to: string): readonly string[] {
  const stat = lstatSync(from);
  if (stat.isSymbolicLink()) symlinkSync(readlinkSync(from), to);
  else if ((stat.mode & READABLE_BY_ALL) === 0) return [];
  else if (stat.isFile()) copyFileSync(from, to);
  else if (stat.isDirectory()) {
    mkdirSync(to);
    return readdirSync(from);
  }
  return [];
}

function stampOf(source: string, name: string): readonly unknown[] | null {
  try {
    const { mtimeMs, size, ino } = lstatSync(join(source, name));
    return [name, mtimeMs, size, ino];
  } catch (thrown) {
    if (errnoCode(thrown) === undefined) throw thrown;
    return null;
  }
}

function writtenFiles({ uid, gid, home }: Inhabitant): Readonly<Record<string, string>> {
  const user = uid === 0 ? 'root' : 'sandbox';
  const group = gid === 0 ? 'root' : 'sandbox';
  const nobody = uid === 65534 ? '' : 'nobody:x:65534:65534::/:/usr/sbin/nologin\n';
  return {
    passwd: `${user}:x:${uid}:${gid}::${home}:/bin/sh\n${nobody}`,
    group: `${group}:x:${gid}:\n${gid === 65534 ? '' : 'nogroup:x:65534:\n'}`,
    hosts: '127.0.0.1 localhost sandbox\n::1 localhost\n',
    'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files\nservices: files\nprotocols: files\n',
  };
}
