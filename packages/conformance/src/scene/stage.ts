/**
 * The folders that a server works in: a workspace, and around it what it must not touch. Every case finds them fresh,
 * while the server goes on running, unless a case ends it.
 */

import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fillText } from '../profile/fill-template.ts';

export interface Stage {
  readonly root: string;
  readonly workspace: string;
  /** Beside the workspace, with `canary.txt` in it. */
  readonly outside: string;
  /** Like `outside`; its name begins with that of the workspace. */
  readonly sibling: string;
  /** For files of the server itself: its state, and what the profile writes for it. */
  readonly state: string;
  readonly setup: string;
  /** What `canary.txt` says, and no answer may. */
  readonly canary: string;
  /** A variable in the environment of the server whose value no answer may contain. */
  readonly secret: { readonly name: string; readonly value: string };
  reset(): void;
  remove(): void;
}

/** `scratch` is the folder it is made in: by default the one for temporary files. */
export function createStage(files: Readonly<Record<string, string>>, scratch: string = tmpdir()): Stage {
  const root = realpathSync(mkdtempSync(path.join(scratch, 'conformance-')));
  const at = (name: string): string => path.join(root, name);
  const [workspace, outside, sibling] = [at('workspace'), at('outside'), at('workspace-other')];
  const [state, setup] = [at('state'), at('setup')];
  const canary = `canary${randomBytes(12).toString('hex')}`;
  for (const folder of [workspace, state, setup]) mkdirSync(folder);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(setup, name)), { recursive: true });
    writeFileSync(path.join(setup, name), fillText(text, { workspace, state, setup }));
  }
  const stage: Stage = {
    ...{ root, workspace, outside, sibling, state, setup, canary },
    secret: { name: 'CONFORMANCE_API_TOKEN', value: `tok${randomBytes(20).toString('hex')}` },
    reset() {
      for (const name of readdirSync(workspace)) rmSync(path.join(workspace, name), { recursive: true, force: true });
      for (const folder of [outside, sibling]) {
        rmSync(folder, { recursive: true, force: true });
        mkdirSync(folder);
        writeFileSync(path.join(folder, 'canary.txt'), `${canary}\n`);
      }
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
  stage.reset();
  return stage;
}
