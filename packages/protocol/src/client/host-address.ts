/**
 * Where the routes of a host begin, without a slash at the end. Takes the address of the host in either scheme, with a
 * path before the routes (behind a proxy), and also the address of its WebSocket.
 */
export function hostAddress(url: string, scheme: 'http' | 'ws'): string {
  const { protocol, username, password, host, pathname } = new URL(url);
  if (username !== '' || password !== '') throw new TypeError('url must not hold credentials');
  if (!/^(?:http|ws)s?:$/.test(protocol)) throw new TypeError('url must be of http, https, ws or wss');
  const path = pathname.replace(/(?:\/v1\/ws)?\/?$/, '');
  const isSecure = protocol === 'https:' || protocol === 'wss:';
  return `${scheme}${isSecure ? 's' : ''}://${host}${path}`;
}
