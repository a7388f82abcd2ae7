/** A real Chromium, as the system has it, with nothing of its own that talks to the network. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';

const QUIET = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export interface TestBrowser {
  readonly context: BrowserContext;
  /** What pages did that they must not: errors on the console, and requests beyond the host. */
  readonly complaints: string[];
  /** A page on this address. */
  open(url: string): Promise<Page>;
  /** A page with a profile of its own, as another person has it. */
  openElsewhere(url: string): Promise<Page>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface BrowserOptions {
  readonly width?: number;
  readonly height?: number;
  readonly theme?: 'dark' | 'light';
  readonly timezone?: string;
  /** Requests to other addresses are complaints. */
  readonly home: string;
  /** What leads to the host. */
  readonly proxy?: string;
}

export async function openBrowser({
  width = 1280,
  height = 800,
  theme = 'light',
  timezone = 'UTC',
  home,
  proxy,
}: BrowserOptions): Promise<TestBrowser> {
  const profile = mkdtempSync(join(tmpdir(), 'console-browser-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: execFileSync('sh', ['-c', 'command -v chromium'], { encoding: 'utf8' }).trim(),
    args: QUIET,
    viewport: { width, height },
    colorScheme: theme,
    timezoneId: timezone,
    acceptDownloads: true,
    ...(proxy === undefined ? {} : { proxy: { server: proxy, bypass: '<-loopback>' } }),
  });
  const complaints: string[] = [];
  context.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(`${home}/`) && !/^(?:blob|about|data):/.test(url)) complaints.push(`request to ${url}`);
  });
  context.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(`console: ${message.text()}`);
  });
  context.on('weberror', (error) => complaints.push(`error: ${error.error().message}`));
  return {
    context,
    complaints,
    async open(url) {
      const page = await context.newPage();
      await page.goto(url);
      return page;
    },
    async openElsewhere(url) {
      const other = await context.browser()?.newContext();
      if (other === undefined) throw new TypeError('The browser opens no further profiles');
      const page = await other.newPage();
      await page.goto(url);
      return page;
    },
    async [Symbol.asyncDispose]() {
      await context.close();
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
