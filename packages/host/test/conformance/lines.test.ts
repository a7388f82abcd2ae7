import { unixLines } from './drivers/unix-lines.ts';
import { transportSuite } from './suite.ts';

transportSuite('JSON lines on the Unix socket, a bare socket', unixLines);
