/** What a case works with: a server in its stage, calls by what they are for, and the files as they really are. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fillTemplate, type Json, splitCommand, type Values } from '../profile/fill-template.ts';
import type { Capability, Profile } from '../profile/profile.ts';
import { startEnvelopeServer } from '../server/envelope-server.ts';
import type { Message, ProcessSettings } from '../server/line-process.ts';
import { startMcpServer } from '../server/mcp-server.ts';
import type { Protocol, Server } from '../server/server.ts';
import { answerText } from './answer-text.ts';
import { endMarked, sleepMark } from './processes.ts';
import { createStage, type Stage } from './stage.ts';

export interface Target {
  readonly protocol: Protocol;
  readonly command: string;
  readonly profile: Profile;
  readonly variables: Values;
  /** Folder for the scratch folders; by default the one for temporary files. */
  readonly scratch?: string;
}

export interface Answer {
  readonly ok: boolean;
  readonly text: string;
  /** Everything that came back. */
  readonly whole: string;
}

export interface RunningCall {
  readonly answer: Promise<Answer>;
  cancel(): void;
}

/** How often cases try what depends on the moment. */
export interface Effort {
  /** Calls against each swapped name. */
  readonly attempts: number;
  /** Kills in the middle of a write. */
  readonly kills: number;
}

const USUAL: Effort = { attempts: 300, kills: 10 };

export class Scene {
  readonly target: Target;
  readonly effort: Effort;
  readonly stage: Stage;
  #server: Server | undefined;
  #marks: string[] = [];

  constructor(target: Target, effort: Effort = USUAL) {
    this.effort = effort;
    this.target = target;
    this.stage = createStage(target.profile.files, target.scratch);
  }

  /** Fresh folders and a running server, for the next case. */
  async reset(): Promise<void> {
    for (const mark of this.#marks.splice(0)) endMarked(mark);
    this.stage.reset();
    await this.server();
  }

  async server(): Promise<Server> {
    this.#server ??= await this.#startServer();
    return this.#server;
  }

  async #startServer(): Promise<Server> {
    const { target } = this;
    const settings: ProcessSettings = {
      words: this.words(target.command),
      cwd: this.stage.workspace,
      env: this.environment(),
    };
    return await (target.protocol === 'mcp' ? startMcpServer : startEnvelopeServer)(settings, target.profile);
  }

  words(command: string): string[] {
    const { workspace, state, setup } = this.stage;
    return splitCommand(
      command,
      { ...this.target.profile.variables, ...this.target.variables },
      { workspace, state, setup },
    );
  }

  environment(): Record<string, string | undefined> {
    const { workspace, state, setup, secret } = this.stage;
    const own = fillTemplate(this.target.profile.env, { workspace, state, setup }) as Record<string, string>;
    return { ...process.env, ...own, [secret.name]: secret.value };
  }

  /** Kills the server without a warning, as a crash does. The next call starts another one. */
  async kill(): Promise<void> {
    await this.#server?.process.kill();
    this.#server = undefined;
  }

  /** Ends the server as a client does that goes away. */
  async close(): Promise<void> {
    await this.#server?.process.close();
    this.#server = undefined;
  }

  async remove(): Promise<void> {
    await this.close();
    for (const mark of this.#marks.splice(0)) endMarked(mark);
    this.stage.remove();
  }

  async start(capability: Capability, values: Values, key?: string): Promise<RunningCall> {
    const mapping = this.target.profile.tools[capability];
    if (mapping === undefined) throw new TypeError(`The profile has no tool for ${capability}`);
    const server = await this.server();
    const given = 'path' in values ? { ...values, path: this.#pathFor(values['path'] ?? '') } : values;
    const args = fillTemplate(mapping.args, { path: this.#pathFor('.'), ...given }) as Record<string, Json>;
    const { reply, cancel } = server.start({ tool: mapping.tool, args, ...(key === undefined ? {} : { key }) });
    return {
      answer: reply.then(({ ok, message }) => this.#answerOf(ok, message, mapping.text)),
      cancel,
    };
  }

  async call(capability: Capability, values: Values, key?: string): Promise<Answer> {
    const { answer } = await this.start(capability, values, key);
    return await answer;
  }

  /** A tool of that name, whatever it is, without a mapping. */
  async callNamed(tool: string, args: Readonly<Record<string, Json>>): Promise<Answer> {
    const { ok, message } = await (await this.server()).start({ tool, args }).reply;
    return this.#answerOf(ok, message, undefined);
  }

  #answerOf(marked: boolean, message: Message, place: string | undefined): Answer {
    const text = answerText(message, place);
    const { refusal } = this.target.profile;
    const ok = marked && !(refusal !== undefined && new RegExp(refusal, 's').test(text));
    return { ok, text, whole: JSON.stringify(message) };
  }

  /** Not normalised: what a case wants to send is what the server gets. */
  #pathFor(name: string): string {
    if (this.target.profile.paths === 'relative' || path.isAbsolute(name)) return name;
    return `${this.stage.workspace}/${name}`;
  }

  put(name: string, content: string | Uint8Array, mode?: number): void {
    const file = path.join(this.stage.workspace, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content, mode === undefined ? {} : { mode });
  }

  /** Bytes of a file in the workspace; undefined if it does not exist. */
  bytes(name: string): Buffer | undefined {
    const file = path.join(this.stage.workspace, name);
    return existsSync(file) ? readFileSync(file) : undefined;
  }

  names(): string[] {
    return readdirSync(this.stage.workspace).sort();
  }

  /** A sleep that can be found in the process table, and is ended after the case in any event. */
  mark(): string {
    const mark = sleepMark();
    this.#marks.push(mark);
    return mark;
  }
}
