/**
 * The /etc that programs behind the wall see: a folder of ours, so that one mount stands for a dozen.
 *
 * It holds copies of what programs need to start and to trust certificates, and four small files that name nobody but
 * the sandbox itself. It is built anew when one of its sources changes, and shared by every runtime of this user.
 */
import { existsSync, lstatSync } from 'node:fs';
import { copyFile, lstat, mkdir, mkdtemp, readdir, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sha256Hex } from './digest.ts';
import { errnoCode } from './errno-error.ts';

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

/** Answers the path of the folder, inside `parent`. Hundreds of small files: off the event loop. */
export async function prepareEtc(parent: string, inhabitant: Inhabitant): Promise<string> {
  const written = writtenFiles(inhabitant);
  const folder = join(parent, `etc-${sha256Hex(JSON.stringify([written, COPIED.map(stampOf)])).slice(0, 16)}`);
  if (!existsSync(folder)) await publish(folder, parent, written);
  return folder;
}

async function publish(folder: string, parent: string, written: Readonly<Record<string, string>>): Promise<void> {
  const draft = await mkdtemp(join(parent, 'draft-'));
  try {
    await Promise.all(COPIED.filter((name) => stampOf(name) !== null).map((name) => copyEntry(name, draft)));
    await Promise.all(Object.entries(written).map(([name, content]) => writeFile(join(draft, name), content)));
    await rename(draft, folder);
  } catch (thrown) {
    await rm(draft, { recursive: true, force: true });
    // Another runtime was first with the same content.
    if (!existsSync(folder)) throw thrown;
  }
}

async function copyEntry(name: string, draft: string): Promise<void> {
  await mkdir(dirname(join(draft, name)), { recursive: true });
  await copyForAll(join('/etc', name), join(draft, name));
}

/**
 * Links stay links: they lead into the system folders, which stand at the same place behind the wall. What not everyone
 * may read is left out: as root we could read more than anyone behind the wall should.
 */
async function copyForAll(from: string, to: string): Promise<void> {
  const stat = await lstat(from);
  if (stat.isSymbolicLink()) await symlink(await readlink(from), to);
  else if ((stat.mode & READABLE_BY_ALL) === 0) return;
  else if (stat.isFile()) await copyFile(from, to);
  else if (stat.isDirectory()) {
    await mkdir(to);
    await Promise.all((await readdir(from)).map((name) => copyForAll(join(from, name), join(to, name))));
  }
}

function stampOf(name: string): readonly unknown[] | null {
  try {
    const { mtimeMs, size, ino } = lstatSync(join('/etc', name));
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
