/** Toys that do not survive a crash, or whose keys or journal do not hold. */
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CHUNK, type Operation, Toy } from '../parts.ts';

interface Undo {
  readonly file: string;
  readonly text: string;
}

export const RECORD_FAULTS = {
  'crashes.torn': class extends Toy {
    override async place(name: string, bytes: Buffer, operation: Operation): Promise<void> {
      if (bytes.length <= CHUNK) return await super.place(name, bytes, operation);
      const file = openSync(path.join(this.folders.workspace, name), 'w');
      for (let at = 0; at < bytes.length; at += CHUNK) {
        writeSync(file, bytes.subarray(at, at + CHUNK));
        await sleep(1);
      }
      closeSync(file);
    }
  },
  'crashes.leftovers': class extends Toy {
    override sweep(): void {}
  },
  /** Its recovery undoes every replaced file that no orderly end has confirmed. */
  'crashes.acknowledged': class extends Toy {
    #undoFile(): string {
      return path.join(this.folders.state, 'undo.json');
    }
    override recover(): void {
      super.recover();
      if (!existsSync(this.#undoFile())) return;
      const { file, text } = JSON.parse(readFileSync(this.#undoFile(), 'utf8')) as Undo;
      if (existsSync(file)) writeFileSync(file, text);
      rmSync(this.#undoFile());
    }
    override async place(name: string, bytes: Buffer, operation: Operation): Promise<void> {
      const file = path.join(this.folders.workspace, name);
      const undo: Undo | undefined = existsSync(file) ? { file, text: readFileSync(file, 'utf8') } : undefined;
      await super.place(name, bytes, operation);
      if (undo !== undefined && bytes.length <= CHUNK) writeFileSync(this.#undoFile(), JSON.stringify(undo));
    }
    override shutDown(): void {
      rmSync(this.#undoFile(), { force: true });
      super.shutDown();
    }
  },
  'idempotency.repeat': class extends Toy {
    override async once(_key: string, _args: string, body: () => Promise<string>): Promise<string> {
      return await body();
    }
  },
  'idempotency.conflict': class extends Toy {
    override isSame(): boolean {
      return true;
    }
  },
  'idempotency.restart': class extends Toy {
    override keep(): void {}
  },
  'journal.records': class extends Toy {
    override record(what: string, ok: boolean): void {
      if (ok) super.record(what, ok);
    }
  },
  'journal.tampered': class extends Toy {
    override verify(): boolean {
      return true;
    }
  },
  'journal.crash': class extends Toy {
    readonly #waiting: string[] = [];
    override record(what: string): void {
      this.#waiting.push(what);
    }
    override shutDown(): void {
      for (const what of this.#waiting) this.append(what);
      super.shutDown();
    }
  },
} satisfies Record<string, typeof Toy>;
