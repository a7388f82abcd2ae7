/** The small server of the newest revision on standard input and output. */
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createModernTools } from './modern-tools.ts';

serveStdio(createModernTools);
