import { stdio } from './drivers/stdio.ts';
import { typedLines } from './drivers/typed-client.ts';
import { unixLines } from './drivers/unix-lines.ts';
import { transportSuite } from './suite.ts';

transportSuite('tool-runtime stdio, a process', stdio);
transportSuite('JSON lines on the Unix socket, a bare socket', unixLines);
transportSuite('JSON lines on the Unix socket, the typed client', typedLines);
