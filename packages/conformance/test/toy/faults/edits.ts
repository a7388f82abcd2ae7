/** Toys that edit, read or write wrongly. */
import { isUtf8 } from 'node:buffer';
import { setTimeout as sleep } from 'node:timers/promises';
import { Toy } from '../parts.ts';

/** A toy that changes the whole text of what it edited. Latin-1 keeps every byte as it is. */
function afterEdit(change: (text: string) => string): typeof Toy {
  return class extends Toy {
    override replaced(now: Buffer, old: string, text: string): Buffer {
      return Buffer.from(change(super.replaced(now, old, text).toString('latin1')), 'latin1');
    }
  };
}

export const EDIT_FAULTS = {
  'edits.bytes': afterEdit((text) => text.replaceAll(/[ \t]+$/gm, '')),
  'edits.literal': class extends Toy {
    override replaced(now: Buffer, old: string, text: string): Buffer {
      super.replaced(now, old, text);
      const bytes = (value: string): string => Buffer.from(value).toString('latin1');
      return Buffer.from(now.toString('latin1').replace(bytes(old), bytes(text)), 'latin1');
    }
  },
  'edits.ambiguous': class extends Toy {
    override replaced(now: Buffer, old: string, text: string): Buffer {
      const at = now.indexOf(old);
      if (at < 0) return super.replaced(now, old, text);
      return Buffer.concat([now.subarray(0, at), Buffer.from(text), now.subarray(at + Buffer.byteLength(old))]);
    }
  },
  'edits.missing': class extends Toy {
    override replaced(now: Buffer, old: string, text: string): Buffer {
      return now.length > 0 && !now.includes(old) ? now : super.replaced(now, old, text);
    }
  },
  'edits.line-endings': afterEdit((text) => text.replaceAll('\r\n', '\n')),
  'edits.bom': afterEdit((text) => text.replace(/^\xef\xbb\xbf/, '')),
  'edits.final-newline': afterEdit((text) => (text.endsWith('\n') ? text : `${text}\n`)),
  'edits.empty': class extends Toy {
    override replaced(now: Buffer, old: string, text: string): Buffer {
      return now.length === 0 ? Buffer.from(text) : super.replaced(now, old, text);
    }
  },
  'edits.unicode': class extends Toy {
    override replaced(now: Buffer, old: string, text: string): Buffer {
      const after = super.replaced(now, old, text);
      return isUtf8(after) ? Buffer.from(after.toString('utf8').normalize('NFC')) : after;
    }
  },
  'edits.other-encoding': class extends Toy {
    override replaced(now: Buffer, old: string, text: string): Buffer {
      return Buffer.from(super.replaced(now, old, text).toString('utf8'));
    }
  },
  'edits.mode': class extends Toy {
    override modeOf(): number {
      return 0o644;
    }
  },
  'edits.concurrent': class extends Toy {
    override async edit(name: string, old: string, text: string): Promise<string> {
      const now = await this.bytesOf(name, 'edit');
      await sleep(5);
      await this.place(name, this.replaced(now, old, text), 'edit');
      return 'edited';
    }
  },
  'edits.write-bytes': class extends Toy {
    override async write(name: string, content: string): Promise<string> {
      return await super.write(name, content.replaceAll('\r\n', '\n'));
    }
  },
  'edits.read-whole': class extends Toy {
    override async read(name: string): Promise<string> {
      return (await super.read(name)).replace(/[^\n]+$/, '');
    }
  },
} satisfies Record<string, typeof Toy>;
