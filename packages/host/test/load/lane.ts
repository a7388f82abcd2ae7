/**
 * One of the callers: it makes one call after the other, of all kinds, and knows what each must lead to.
 *
 * Effects are chosen so that a second one shows: a keyed append leaves its line twice, a counter is patched from one
 * value to the next, a file is made only where there is none.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { ErrorCode, JsonObject, JsonValue, ToolResponse } from '@tool-runtime/protocol';
import type { CallPlan, TransportName } from './call-book.ts';
import { countText, type ExpectedFiles, SOURCE_FILES, sourceName, sourceText } from './lane-files.ts';
import type { SeededRandom } from './seeded-random.ts';

/** Keys belong to an actor, and a socket's peer is another one than the holder of the token. */
type Actor = 'token' | 'peer';

interface KeyedCall {
  readonly key: string;
  readonly args: JsonObject;
  readonly line: string;
  readonly file: string;
  data?: JsonValue;
}

export interface LaneOptions {
  readonly number: number;
  readonly random: SeededRandom;
  readonly files: ExpectedFiles;
  readonly workspace: string;
  readonly mix: CallMix;
}

/** How many of a thousand calls, or so; processes are dear, so there are few. */
export const MIXED = {
  read: 420,
  write: 130,
  patch: 90,
  list: 80,
  search: 40,
  refuse: 80,
  append: 60,
  repeat: 50,
  make: 20,
  race: 25,
  interrupt: 2,
  status: 3,
} as const;
/** Mostly effects that would show if they happened twice. */
export const MOSTLY_EFFECTS: CallMix = {
  ...MIXED,
  append: 600,
  patch: 200,
  make: 100,
  read: 50,
  search: 2,
  interrupt: 0,
  status: 0,
};
type Kind = keyof typeof MIXED;
export type CallMix = Readonly<Record<Kind, number>>;

export class Lane {
  readonly #options: LaneOptions;
  readonly #done: Record<Actor, KeyedCall[]> = { token: [], peer: [] };
  /** Keyed calls whose answer was lost. */
  readonly #lost: Record<Actor, KeyedCall[]> = { token: [], peer: [] };
  readonly #drawn: readonly Kind[];
  #count = 0;
  #turn = 0;

  constructor(options: LaneOptions) {
    this.#options = options;
    this.#drawn = Object.entries(options.mix).flatMap(([kind, weight]) => new Array<Kind>(weight).fill(kind as Kind));
  }

  next(transport: TransportName): CallPlan {
    const actor: Actor = transport === 'lines' ? 'peer' : 'token';
    const kind = this.#options.random.pick(this.#drawn);
    return this.#makers[kind](actor);
  }

  /** Keyed calls to make again after a crash, as their actor. */
  repeatsOf(transport: TransportName): readonly CallPlan[] {
    const actor: Actor = transport === 'lines' ? 'peer' : 'token';
    return this.#lost[actor].splice(0).map((call) => this.#repeatLost(actor, call));
  }

  /** After a crash: the value of the counter, which must be the old one or one more. */
  lookAgain(): string | undefined {
    const text = readFileSync(join(this.#options.workspace, this.#countFile), 'utf8');
    const found = Number(/^count (\d+)$/m.exec(text)?.[1]);
    const problem = found === this.#count || found === this.#count + 1 ? undefined : `counter jumped to ${found}`;
    this.#count = found;
    this.#options.files.is(this.#countFile, countText(found));
    return problem;
  }

  get #countFile(): string {
    return `lanes/${this.#options.number}/count.txt`;
  }

  readonly #makers: Record<Kind, (actor: Actor) => CallPlan> = {
    read: () => {
      const index = this.#options.random.below(SOURCE_FILES);
      return wanted('file_read', { path: sourceName(index) }, (data) => data['content'] === sourceText(index));
    },
    write: () => this.#write(),
    patch: () => this.#patch(),
    list: () =>
      wanted('fs_list', { glob: 'src/*.txt' }, ({ files }) => Array.isArray(files) && files.length === SOURCE_FILES),
    search: () =>
      wanted('grep', { pattern: 'needle', glob: 'src/*.txt', files_only: true, fixed: true }, ({ files }) => {
        return Array.isArray(files) && files.length === SOURCE_FILES / 4;
      }),
    refuse: (actor) => this.#refuse(actor),
    append: (actor) => this.#append(actor),
    repeat: (actor) => this.#repeat(actor),
    make: () => this.#make(),
    race: () => ({
      ...wanted('file_read', { path: sourceName(0) }, () => true),
      kind: 'cancel at once',
      cancelAfterMs: 0,
      judge: (answer) => (answer.ok || isCancelled(answer) ? undefined : 'failed'),
    }),
    interrupt: () => ({
      kind: 'cancel shell_exec',
      tool: 'shell_exec',
      args: { argv: ['sleep', '20'] },
      cancelAfterMs: 10 + this.#options.random.below(40),
      judge: (answer) => (isCancelled(answer) ? undefined : 'was not cancelled'),
    }),
    status: () => wanted('git_status', {}, (data) => data['branch'] === 'main'),
  };

  #write(): CallPlan {
    const { number, files } = this.#options;
    const path = `lanes/${number}/text.txt`;
    const content = `turn ${++this.#turn}\n${'text of a lane\n'.repeat(1 + (this.#turn % 40))}`;
    files.mayBe(path, content);
    return {
      ...wanted('file_write', { path, content }, ({ bytes }) => bytes === content.length),
      settle: (answer) => (answer?.ok === true ? files.is(path, content) : undefined),
    };
  }

  #patch(): CallPlan {
    const count = this.#count;
    const { files } = this.#options;
    files.mayBe(this.#countFile, countText(count + 1));
    const path = this.#countFile;
    const unified_diff = `--- a/${path}\n+++ b/${path}\n@@ -1,3 +1,3 @@\n before\n-count ${count}\n+count ${count + 1}\n after\n`;
    return {
      ...wanted('file_patch', { path, unified_diff }, ({ changed }) => changed === true),
      settle: (answer) => {
        if (answer?.ok !== true) return;
        this.#count = count + 1;
        files.is(path, countText(count + 1));
      },
    };
  }

  #make(): CallPlan {
    const { number, files } = this.#options;
    const path = `made/${number}/${++this.#turn}.txt`;
    const content = `made once ${this.#turn}\n`;
    files.mayBe(path, content);
    return {
      ...wanted('file_write', { path, content, create_only: true }, ({ created }) => created === true),
      kind: 'file_write create_only',
      settle: (answer) => (answer?.ok === true ? files.is(path, content) : undefined),
    };
  }

  #append(actor: Actor): CallPlan {
    const { number, files } = this.#options;
    const key = `lane-${number}-${actor}-${++this.#turn}`;
    const file = `lanes/${number}/${actor}.log`;
    const call: KeyedCall = { key, file, line: key, args: { path: file, content: `${key}\n`, append: true } };
    files.line(file, key, 'at most once');
    return { ...this.#keyed(actor, call), judge: (answer) => (answer.ok ? undefined : 'failed') };
  }

  #repeat(actor: Actor): CallPlan {
    const done = this.#done[actor];
    if (done.length === 0) return this.#append(actor);
    const { key, args, data } = this.#options.random.pick(done);
    return {
      kind: 'answered from the record',
      tool: 'file_write',
      args,
      key,
      judge: (answer) => (answer.ok && isDeepStrictEqual(answer.data, data) ? undefined : 'has another answer'),
    };
  }

  #repeatLost(actor: Actor, call: KeyedCall): CallPlan {
    return {
      ...this.#keyed(actor, call),
      kind: 'repeated after the crash',
      judge: (answer) => (answer.ok || reasonOf(answer) === 'outcome_unknown' ? undefined : 'failed'),
    };
  }

  #keyed(actor: Actor, call: KeyedCall): Omit<CallPlan, 'judge'> {
    return {
      kind: 'file_write append, keyed',
      tool: 'file_write',
      args: call.args,
      key: call.key,
      settle: (answer) => {
        if (answer === undefined) this.#lost[actor].push(call);
        if (answer?.ok !== true) return;
        this.#options.files.line(call.file, call.line, 'once');
        this.#done[actor].push({ ...call, data: answer.data });
      },
    };
  }

  #refuse(actor: Actor): CallPlan {
    const known = this.#done[actor][0];
    const cases = [
      refused('file_read', { path: '../outside.txt' }, 'E_POLICY'),
      refused('no_such_tool', {}, 'E_POLICY'),
      refused('file_read', {}, 'E_VALIDATION_FAIL'),
      refused('file_read', { path: 'src/missing.txt' }, 'E_FILE_IO'),
      refused('shell_exec', { argv: ['rm', '-r', '/'] }, 'E_POLICY'),
      refused('file_write', { path: sourceName(1), content: '', create_only: true }, 'E_FILE_IO'),
    ];
    const chosen = this.#options.random.below(cases.length + 1);
    const plan = cases[chosen];
    if (plan !== undefined || known === undefined) return plan ?? refused('no_such_tool', {}, 'E_POLICY');
    const other = refused('file_write', { ...known.args, content: 'other\n' }, 'E_VALIDATION_FAIL');
    return { ...other, kind: 'refused: key with other arguments', key: known.key };
  }
}

function wanted(tool: string, args: JsonObject, isRight: (data: JsonObject) => boolean): CallPlan {
  return {
    kind: tool,
    tool,
    args,
    judge: (answer) => (answer.ok && isRight(answer.data as JsonObject) ? undefined : 'is not what was asked for'),
  };
}

function refused(tool: string, args: JsonObject, code: ErrorCode): CallPlan {
  return {
    kind: `refused: ${code}`,
    tool,
    args,
    judge: (answer) => (!answer.ok && answer.errors[0]?.code === code ? undefined : `was not refused with ${code}`),
  };
}

function isCancelled(answer: ToolResponse): boolean {
  return !answer.ok && reasonOf(answer) === 'cancelled';
}

function reasonOf({ errors }: ToolResponse): unknown {
  return errors[0]?.details?.['reason'];
}
