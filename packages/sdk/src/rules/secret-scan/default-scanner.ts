/** The scanner of secrets.scan. Making one takes a while, so this module is loaded with the first scan. */
import { createSecretScanner } from '../../secrets/secret-scanner.ts';

/** Part of the key under which findings are kept: to be raised whenever the scanner finds more, fewer or other things. */
export const SCANNER_VERSION = 1;

export const defaultScanner = createSecretScanner();
