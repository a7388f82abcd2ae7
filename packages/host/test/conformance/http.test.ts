import { httpFetch } from './drivers/http-fetch.ts';
import { transportSuite } from './suite.ts';

transportSuite('HTTP, fetch', httpFetch);
