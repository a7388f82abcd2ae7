/** Takes credentials out of the URLs in a text: user information and secret query parameters. */
import { REDACTED } from './find-values.ts';
import { isSecretName } from './secret-names.ts';

/** With a password, or alone where the web would take it for a token. */
const PASSWORD = /([a-z][a-z0-9+.-]{0,20}:\/\/[^\s/?#:@"']*:)([^\s/?#@"']+)(?=@)/gi;
const LONE_USER = /(https?:\/\/)([^\s/?#:@"']+)(?=@)/gi;
/** As in a query or a fragment; the name decides. */
const PARAMETER = /([?&#;])([A-Za-z0-9_.[\]-]{1,64})=([^\s&#;"']+)/g;
type OnUrlSecret = (value: string, isCredential: boolean) => void;

const URL_NAMES = /^(?:key|sig|code|session|sid|x-amz-(?:signature|security-token|credential))$/i;

/** `onSecret` hears each value that was taken out, as it was written, and whether it is a password by its place. */
export function redactUrls(text: string, onSecret: OnUrlSecret = () => {}): string {
  if (!text.includes('://') && !text.includes('=')) return text;
  const take = (before: string, value: string, isCredential: boolean): string => {
    if (value !== REDACTED) onSecret(value, isCredential);
    return before + REDACTED;
  };
  const bare = text
    .replace(PASSWORD, (_, before: string, value: string) => take(before, value, true))
    .replace(LONE_USER, (_, before: string, value: string) => take(before, value, true));
  return bare.replace(PARAMETER, (whole, separator: string, name: string, value: string) =>
    isSecretName(name) || URL_NAMES.test(name) ? take(`${separator}${name}=`, value, false) : whole,
  );
}
