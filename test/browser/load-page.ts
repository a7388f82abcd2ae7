/**
 * Runs the module script of a page in a realm that has what browsers have and nothing of Node: no process, no Buffer, no
 * require, and modules only by address. Bare names go through the import map of the page; everything is fetched from the
 * server the page came from, as a browser would.
 *
 * A program of its own, started with `--experimental-vm-modules`. Arguments: address of the page, then the three fields of
 * its form, then further paths to ask for; it prints a JSON list of what the page answered.
 */
import { createContext, SourceTextModule } from 'node:vm';

const [, , pageUrl = '', url = '', token = '', ...paths] = process.argv;
const { origin } = new URL(pageUrl);
const html = await (await fetch(pageUrl)).text();
const [, map = '{}'] = /<script type="importmap">(.*?)<\/script>/s.exec(html) ?? [];
const { imports } = JSON.parse(map) as { imports: Readonly<Record<string, string>> };
const [, script = ''] = /<script type="module">(.*?)<\/script>/s.exec(html) ?? [];

type Submit = (event: { preventDefault(): void }) => Promise<void>;
const listeners: Submit[] = [];
const form = {
  elements: { url: { value: url }, token: { value: token }, path: { value: '' } },
  addEventListener: (_name: string, listener: Submit) => listeners.push(listener),
};
const answer = { textContent: '' };
const elements: Readonly<Record<string, object>> = { '#ask': form, '#answer': answer };

const realm = createContext({
  document: { querySelector: (name: string) => elements[name] ?? null },
  fetch: fetchFromPage,
  WebSocket: socketOfPage(),
  ...pick('AbortController AbortSignal DOMException Event EventTarget Headers Request Response URL URLSearchParams'),
  ...pick('TextDecoder TextEncoder ReadableStream TransformStream WritableStream TextDecoderStream Blob performance'),
  ...pick('atob btoa console crypto queueMicrotask structuredClone setTimeout clearTimeout setInterval clearInterval'),
});

const modules = new Map<string, Promise<SourceTextModule>>();
const main = new SourceTextModule(script, { context: realm, identifier: pageUrl });
await main.link(resolveModule);
await main.evaluate();

const answers: string[] = [];
for (const path of paths) {
  form.elements.path.value = path;
  for (const listener of listeners) await listener({ preventDefault() {} });
  answers.push(answer.textContent);
}
console.log(JSON.stringify({ modules: modules.size, answers }));

function pick(names: string): Record<string, unknown> {
  const here = globalThis as unknown as Record<string, unknown>;
  return Object.fromEntries(names.split(' ').map((name) => [name, here[name]]));
}

function resolveModule(specifier: string, referrer: { readonly identifier: string }): Promise<SourceTextModule> {
  const isAddress = /^(?:\.{0,2}\/|https?:)/.test(specifier);
  const mapped = isAddress ? specifier : imports[specifier];
  if (mapped === undefined)
    throw new TypeError(`A browser cannot resolve ${specifier}, imported by ${referrer.identifier}`);
  const address = new URL(mapped, referrer.identifier).href;
  const known = modules.get(address);
  if (known !== undefined) return known;
  const loaded = loadModule(address);
  modules.set(address, loaded);
  return loaded;
}

async function loadModule(address: string): Promise<SourceTextModule> {
  const response = await fetch(address);
  const type = response.headers.get('content-type') ?? '';
  if (!response.ok || !/javascript/.test(type)) throw new TypeError(`${response.status} ${type}: ${address}`);
  return new SourceTextModule(await response.text(), { context: realm, identifier: address });
}

/** As a browser does it for a page of another origin: asks first, names its Origin, and keeps answers that do not name it back. */
async function fetchFromPage(target: string | URL, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  const asked = [...headers.keys()].filter((name) => name !== 'accept');
  const question = {
    'access-control-request-method': init.method ?? 'GET',
    'access-control-request-headers': asked.join(),
  };
  const preflight = await fetch(target, { method: 'OPTIONS', headers: { origin, ...question } });
  requireOrigin(preflight);
  const allowed = (preflight.headers.get('access-control-allow-headers') ?? '').toLowerCase().split(', ');
  if (!asked.every((name) => allowed.includes(name))) throw new TypeError('Failed to fetch');
  headers.set('origin', origin);
  const response = await fetch(target, { ...init, headers });
  requireOrigin(response);
  return response;
}

function requireOrigin(response: Response): void {
  const allowed = response.headers.get('access-control-allow-origin');
  if (allowed !== origin && allowed !== '*') throw new TypeError('Failed to fetch');
}

function socketOfPage() {
  return class extends WebSocket {
    constructor(target: string | URL, protocols: string | string[] = []) {
      super(target, { protocols, headers: { origin } });
    }
  };
}
