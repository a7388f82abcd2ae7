/** Public surface of the host package: what an embedding program needs to serve envelopes itself. */
export { createDispatcher, type Dispatcher, type DispatcherOptions } from './dispatch.ts';
export { type StdioOptions, serveStdio } from './transports/stdio.ts';
