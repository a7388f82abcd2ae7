/** Where the arguments of a tool can hold a secret, read from what the tool declares about them. */
import type { JsonObject } from '@tool-runtime/protocol';
import { completeAnnotations } from '../src/contracts/annotations.ts';
import type { AnyTool } from '../src/contracts/tool.ts';
import type { Canaries } from './canaries.ts';

export interface Position {
  readonly name: string;
  /** The argument with the secret in it. */
  readonly args: JsonObject;
}

const VARIABLES = ['API_TOKEN', 'DB_PASSWORD', 'PGPASSWORD', 'AWS_SECRET_ACCESS_KEY', 'CI_JOB_JWT', 'MY_KEY'];
const HEADERS: Readonly<Record<string, (secret: string) => string>> = {
  Authorization: (secret) => `Bearer ${secret}`,
  'X-Access-Token': (secret) => secret,
  'X-Api-Key': (secret) => secret,
  'PRIVATE-TOKEN': (secret) => secret,
  Cookie: (secret) => `theme=dark; session=${secret}`,
  'X-Auth': (secret) => `Basic ${Buffer.from(`me:${secret}`).toString('base64')}`,
};
/** For a program that prints its words. */
export const WORDS: Readonly<Record<string, (secret: string) => readonly string[]>> = {
  '--token X': (secret) => ['--token', secret],
  '--password=X': (secret) => [`--password=${secret}`],
  '-u a:b': (secret) => ['curl', '-u', `me:${secret}`],
  '-p X': (secret) => ['sshpass', '-p', secret],
  '-pX': (secret) => ['mysql', `-p${secret}`],
  '-H Authorization': (secret) => ['-H', `Authorization: Bearer ${secret}`],
  'KEY=secret': (secret) => ['env', `DEPLOY_TOKEN=${secret}`, 'deploy'],
  'URL with a password': (secret) => [`https://me:${encodeURIComponent(secret)}@example.org/x`],
  'URL with a token': (secret) => [`https://example.org/x?page=2&access_token=${encodeURIComponent(secret)}`],
};
const URLS: Readonly<Record<string, (base: string, secret: string) => string>> = {
  'a query parameter': (base, secret) => `${base}?a=1&access_token=${encodeURIComponent(secret)}`,
  'a second query parameter': (base, secret) => `${base}?api_key=${encodeURIComponent(secret)}#x`,
  'user information': (base, secret) => base.replace('://', `://me:${encodeURIComponent(secret)}@`),
};

export interface PositionBase {
  /** Before the words with the secret. */
  readonly program: readonly string[];
  readonly url: string;
}

export function positionsOf(tool: AnyTool, base: PositionBase, canaries: Canaries): Position[] {
  const { arg_schema: places } = completeAnnotations(tool.annotations);
  const plant = (place: string, options?: { plain?: boolean; isGuess?: boolean }): string =>
    canaries.plant(`${tool.name} ${place}`, options);
  return [
    ...places.env_params.flatMap((key) =>
      VARIABLES.map((name) => ({ name: `${key}.${name}`, args: { [key]: { [name]: plant(`${key}.${name}`) } } })),
    ),
    ...places.header_params.flatMap((key) =>
      Object.entries(HEADERS).map(([name, write]) => ({
        name: `${key}.${name}`,
        args: { [key]: { [name]: write(plant(`${key}.${name}`)) } },
      })),
    ),
    ...places.url_params.flatMap((key) =>
      Object.entries(URLS).map(([name, write]) => ({
        name: `${key} ${name}`,
        args: { [key]: write(base.url, plant(`${key} ${name}`, { isGuess: name !== 'user information' })) },
      })),
    ),
    ...places.command_params.flatMap((key) =>
      Object.entries(WORDS).map(([name, write]) => {
        const words = [...base.program, ...write(plant(`${key} ${name}`, { plain: true, isGuess: true }))];
        // A list of words where the tool takes one, a line otherwise.
        const isList = tool.args.shape[key]?.safeParse(words).success === true;
        return { name: `${key} ${name}`, args: { [key]: isList ? words : words.map(quoted).join(' ') } };
      }),
    ),
  ];
}

/** Whether the tool declares a place for secrets at all. */
export function takesSecrets(tool: AnyTool): boolean {
  const { env_params, header_params, url_params, command_params } = completeAnnotations(tool.annotations).arg_schema;
  return [env_params, header_params, url_params, command_params].some((keys) => keys.length > 0);
}

function quoted(word: string): string {
  return /^[\w./:=@%?&+-]+$/.test(word) && !/[&]/.test(word) ? word : `'${word}'`;
}
