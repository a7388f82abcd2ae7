/** Once all is quiet: nothing is locked, nothing is left running, nothing is left lying about. */
import { existsSync, readdirSync, utimesSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { JsonObject, ToolResponse } from '@tool-runtime/protocol';
import type { ServeAddress } from '../../../packages/host/test/load/load-clients.ts';
import { ask, closeSession, type HttpSession, openSession } from '../clients/http-session.ts';
import type { Site } from '../stage/site.ts';
import type { Violations } from '../violations.ts';
import { reasonOf } from './call-outcome.ts';

const TEMPORARY = /^\.tool-runtime-tmp-[-0-9a-f]+$/;
/** A sweep leaves alone what is younger than a minute. */
const OLD_SECONDS = 120;
const PATIENCE_MS = 1000;

export async function probeAtRest(serve: ServeAddress, site: Site, violations: Violations): Promise<void> {
  const session = await openSession(serve, { workspace: site.name });
  const call = createCaller(serve, session);
  await probeLocks(site, call, violations);
  await probeGit(site, call, violations);
  await probeLeftovers(site, call, violations);
  await closeSession(serve, session);
}

type Call = (tool: string, args: JsonObject) => Promise<ToolResponse>;

function createCaller(serve: ServeAddress, session: HttpSession): Call {
  let count = 0;
  return async (tool, args) => {
    count += 1;
    const request = { type: 'ToolRequest', tool, args, request_id: `probe-${session.id}-${count}`, timestamp: 0 };
    const body = JSON.stringify({ ...request, session_id: session.id });
    const response = await ask(serve, '/v1/call', { method: 'POST', token: session.token, body });
    return (await response.json()) as ToolResponse;
  };
}

/** Every file that was written can be written again, without waiting. */
async function probeLocks({ name, files }: Site, call: Call, violations: Violations): Promise<void> {
  for (const path of files.paths) {
    const [content, ...others] = files.possible(path);
    if (content === undefined || others.length > 0) continue;
    const millis: number[] = [];
    // A second try, for a machine that was busy with something else.
    for (let attempt = 0; attempt < 2; attempt++) {
      const begun = performance.now();
      const { ok, errors } = await call('file_write', { path, content });
      millis.push(performance.now() - begun);
      if (!ok) violations.add(`cannot be written at rest: ${name}/${path}: ${JSON.stringify(errors).slice(0, 400)}`);
      if (!ok || (millis.at(-1) ?? 0) < PATIENCE_MS) break;
    }
    if (millis.length === 2) violations.add(`slow to be written at rest: ${name}/${path}: ${millis} ms`);
  }
}

/** A git that was killed leaves its lock; the way out that is offered has to work. */
async function probeGit({ name }: Site, call: Call, violations: Violations): Promise<void> {
  const stage = () => call('git_add', { paths: ['src'] });
  let answer = await stage();
  if (!answer.ok && reasonOf(answer) === 'locked') {
    const recovered = await call('git_recover', {});
    if (!recovered.ok) violations.add(`git stays locked in ${name}: ${JSON.stringify(recovered.errors).slice(0, 400)}`);
    answer = await stage();
  }
  if (!answer.ok)
    violations.add(`git cannot be used at rest in ${name}: ${JSON.stringify(answer.errors).slice(0, 400)}`);
}

async function probeLeftovers({ name, folder }: Site, call: Call, violations: Violations): Promise<void> {
  const left = temporaryNames(folder);
  const old = Date.now() / 1000 - OLD_SECONDS;
  for (const path of left) utimesSync(join(folder, path), old, old);
  for (const place of new Set(left.map((path) => dirname(path)))) {
    const path = join(place, 'probe.txt');
    await call('file_write', { path, content: 'x' });
    await call('fs_delete', { path });
  }
  for (const path of left) {
    if (existsSync(join(folder, path))) violations.add(`left over after a sweep: ${name}/${path}`);
  }
}

function temporaryNames(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(
      ({ name, parentPath }) =>
        TEMPORARY.test(name) &&
        !relative(folder, parentPath)
          .split('/')
          .some((part) => TEMPORARY.test(part)),
    )
    .map(({ name, parentPath }) => relative(folder, join(parentPath, name)));
}
