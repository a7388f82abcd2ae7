/** Toys that let paths out, lose races, or take names as options. */
import {
  constants,
  existsSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CHUNK, type Operation, Refusal, Toy } from '../parts.ts';

/** A toy that opens some names as they are. */
function reads(isOpen: (name: string, workspace: string) => boolean): typeof Toy {
  return class extends Toy {
    override async read(name: string): Promise<string> {
      const { workspace } = this.folders;
      return isOpen(name, workspace) ? readFileSync(path.resolve(workspace, name), 'utf8') : await super.read(name);
    }
  };
}

function writes(isOpen: (name: string) => boolean): typeof Toy {
  return class extends Toy {
    override async write(name: string, content: string): Promise<string> {
      if (!isOpen(name)) return await super.write(name, content);
      writeFileSync(path.resolve(this.folders.workspace, name), content);
      return 'written';
    }
  };
}

/** A toy that writes some names in place. */
function placesInPlace(isInPlace: (file: string) => boolean | Promise<boolean>): typeof Toy {
  return class extends Toy {
    override async place(name: string, bytes: Buffer, operation: Operation): Promise<void> {
      const inPlace =
        bytes.length < CHUNK &&
        (await this.inFolder(name, operation, async (fd, last) => {
          const file = `/proc/self/fd/${fd}/${last}`;
          if (!(await isInPlace(file))) return false;
          writeFileSync(file, bytes);
          return true;
        }));
      if (!inPlace) await super.place(name, bytes, operation);
    }
  };
}

const isLink = (file: string): boolean => lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true;

/** The gap between check and use. It waits for the attacker a while, who may get little time on a busy machine. */
async function leaveGap(file: string): Promise<void> {
  for (let waited = 0; waited < 200 && !isLink(file); waited += 1) await sleep(1);
}

const hasParent = (name: string): boolean => !path.isAbsolute(name) && name.split('/').includes('..');

export const PATH_FAULTS = {
  'paths.parent-read': reads(hasParent),
  'paths.parent-write': writes(hasParent),
  'paths.absolute-read': reads((name) => path.isAbsolute(name)),
  'paths.absolute-write': writes((name) => path.isAbsolute(name)),
  'paths.prefix': reads((name, workspace) => {
    const file = path.resolve(workspace, name);
    return file.startsWith(workspace) && !`${file}/`.startsWith(`${workspace}/`);
  }),
  'paths.link-read': class extends Toy {
    override readAt(fd: number, last: string): Buffer {
      const file = this.openAt(fd, last, constants.O_RDONLY);
      return readFileSync(file);
    }
  },
  'paths.link-write': placesInPlace(isLink),
  'paths.link-folder': class extends Toy {
    override async openFolder(parts: readonly string[], operation: Operation) {
      const folder = path.join(this.folders.workspace, ...parts.slice(0, -1));
      if (parts.length < 2 || !existsSync(folder)) return await super.openFolder(parts, operation);
      return { fd: openSync(folder, constants.O_RDONLY), last: parts.at(-1) ?? '' };
    }
  },
  'paths.hard-link': placesInPlace((file) => (statSync(file, { throwIfNoEntry: false })?.nlink ?? 0) > 1),
  'paths.proc': reads((name) => name.startsWith('/proc/')),
  'paths.nul': class extends Toy {
    override partsOf(name: string, operation: Operation): string[] {
      return super.partsOf(name.split('\0')[0] ?? '', operation);
    }
  },
  'paths.case': class extends Toy {
    override partsOf(name: string, operation: Operation): string[] {
      return super.partsOf(name.toLowerCase(), operation);
    }
  },
  'paths.long': class extends Toy {
    override partsOf(name: string, operation: Operation): string[] {
      if (name.length > 4096) process.exit(9);
      return super.partsOf(name, operation);
    }
  },
  'paths.list-outside': class extends Toy {
    override async list(name: string): Promise<string> {
      return readdirSync(path.resolve(this.folders.workspace, name)).join('\n');
    }
  },
  'paths.search-outside': class extends Toy {
    override isSearched(entry: Parameters<Toy['isSearched']>[0]): boolean {
      return entry.isFile() || statSync(path.join(entry.parentPath, entry.name)).isFile();
    }
  },
  'races.read': class extends Toy {
    override async readAt(fd: number, last: string): Promise<Buffer> {
      const file = `/proc/self/fd/${fd}/${last}`;
      if (!existsSync(file) || isLink(file)) return super.readAt(fd, last);
      await leaveGap(file);
      return readFileSync(file);
    }
  },
  'races.write': placesInPlace(async (file) => {
    const found = lstatSync(file, { throwIfNoEntry: false });
    if (found?.isFile() !== true || found.nlink > 1) return false;
    await leaveGap(file);
    return true;
  }),
  'options.read': class extends Toy {
    override async read(name: string): Promise<string> {
      if (name.startsWith('-')) throw new Refusal(`unknown option ${name}`);
      return await super.read(name);
    }
  },
  'options.write': class extends Toy {
    override async write(name: string, content: string): Promise<string> {
      return await super.write(name.replace(/^--output=/, ''), content);
    }
  },
  'options.search': class extends Toy {
    override async search(name: string, pattern: string): Promise<string> {
      return pattern.startsWith('-') ? '' : await super.search(name, pattern);
    }
  },
} satisfies Record<string, typeof Toy>;
