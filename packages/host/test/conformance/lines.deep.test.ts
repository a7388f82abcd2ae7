import { stdio } from './drivers/stdio.ts';
import { typedLines } from './drivers/typed-client.ts';
import { transportSuite } from './suite.ts';

transportSuite('tool-runtime stdio, a process', stdio);
transportSuite('JSON lines on the Unix socket, the typed client', typedLines);
