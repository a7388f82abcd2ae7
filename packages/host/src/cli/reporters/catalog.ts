/** Every reporter, one line each. */
export { github } from './github.ts';
export { json } from './json.ts';
export { junit } from './junit.ts';
export { pretty } from './pretty.ts';
export { sarif } from './sarif.ts';
