/** Secrets the operator's registry names, given to git and to external tools: they come out nowhere. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import type { ToolResponse } from '@tool-runtime/protocol';
import { Canaries } from './canaries.ts';
import { openExternalScene } from './external-scene.ts';
import { createRepository, openGitRuntime } from './git-repository.ts';

test('the token of a git host, which the server says back in its own spelling (deep)', async () => {
  const canaries = new Canaries();
  process.env['EXITS_GIT_TOKEN'] = canaries.plant('git.credentials', { plain: true });
  const seen: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers.authorization);
    const sent = String(request.headers.authorization ?? '');
    const plain = Buffer.from(sent.replace('Basic ', ''), 'base64').toString();
    response.writeHead(403, { 'content-type': 'text/plain' }).end(`no entry with ${sent} which is ${plain}\n`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const repository = createRepository({ files: { 'a.txt': 'a\n' } });
  repository.git('remote', 'add', 'origin', `http://${host}/x.git`);
  const network = `network: {allowed_domains: ['${host}'], insecure_credentials: ['${host}']}`;
  const registry = `version: 1\ngit: {allow_push: true, credentials: {'${host}': EXITS_GIT_TOKEN}}\n${network}\n`;
  const runtime = await openGitRuntime(repository, { registry });
  const heard: unknown[] = [];
  const stop = runtime.runtime.events.listen(runtime.session.id, (event) => heard.push(event));
  try {
    heard.push(await runtime.ask('git_push', { refspec: 'HEAD' }), await runtime.ask('git_fetch', {}));
    heard.push(await runtime.ask('proc_list', { limit: 10_000 }), [...runtime.runtime.records()]);
    assert.ok(seen.some((header) => header?.startsWith('Basic ')));
    assert.deepEqual(canaries.find('heard', heard), []);
    assert.deepEqual(canaries.findBelow(runtime.state), []);
  } finally {
    stop();
    delete process.env['EXITS_GIT_TOKEN'];
    await runtime.dispose();
    repository.dispose();
    server.closeAllConnections();
    server.close();
  }
});

test('what an external tool gets and is given, printed in every spelling', async () => {
  const canaries = new Canaries();
  process.env['EXITS_TOOL_SECRET'] = canaries.plant('external_tools.secrets', { plain: true });
  const scene = await openExternalScene({
    tools: ['name: a, secrets: [EXITS_TOOL_SECRET], args_schema: {type: object}'],
    registry: ["shell_allow: ['^echo( |$)']"],
  });
  const heard: unknown[] = [];
  const answers: ToolResponse[] = [];
  const stop = scene.runtime.events.listen(scene.session.id, (event) => heard.push(event));
  const print = 'printf %s "$EXITS_TOOL_SECRET" | base64 -w0; echo "x$EXITS_TOOL_SECRET $*"; echo "$TOOL_INPUTS" >&2';
  const given = {
    args: [`${print}; result`, '--token', canaries.plant('external args', { plain: true, isGuess: true })],
  };
  const inputs = { api_token: canaries.plant('external inputs', { plain: true, isGuess: true }) };
  try {
    answers.push(await scene.session.call('a', { ...given, inputs }));
    answers.push(
      await scene.session.call('a', { ...given, args: [`${print}; exit 3`, ...given.args.slice(1)], inputs }),
    );
    answers.push(await scene.session.call('a', { ...given, inputs, unknown: 1 }));
    // Another tool of the same session does not say it either.
    answers.push(await scene.session.call('shell_exec', { cmd: `echo ${process.env['EXITS_TOOL_SECRET']}` }));
    heard.push([...scene.runtime.records()], scene.results());
    // The secret of the registry is masked and counted; what only looks like one passes as it was printed.
    assert.match(JSON.stringify(answers), /x\[redacted\] --token cnry/);
    assert.deepEqual(
      answers.map(({ redacted }) => redacted),
      [2, 2, undefined, 1],
    );
    assert.deepEqual(canaries.find('answers', answers, { guesses: false }), []);
    assert.deepEqual(canaries.find('heard', heard), []);
    assert.deepEqual(canaries.findBelow(scene.state), []);
  } finally {
    stop();
    delete process.env['EXITS_TOOL_SECRET'];
    await scene.dispose();
  }
});
