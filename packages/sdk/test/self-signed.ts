/** A certificate made on the spot, so that no private key lies in the repository: the few bytes of X.509 that TLS asks for. */
import { generateKeyPairSync, sign } from 'node:crypto';

export interface SelfSigned {
  /** PEM. */
  readonly key: string;
  readonly cert: string;
}

const ECDSA_SHA256 = tlv(0x30, Buffer.from('06082a8648ce3d040302', 'hex'));

export function selfSigned(names: { readonly dns: readonly string[]; readonly ipv4: readonly string[] }): SelfSigned {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const issuer = tlv(0x30, tlv(0x31, tlv(0x30, Buffer.from('0603550403', 'hex'), tlv(0x0c, Buffer.from('test')))));
  const validity = tlv(0x30, tlv(0x17, Buffer.from('200101000000Z')), tlv(0x17, Buffer.from('491231235959Z')));
  const alternatives = tlv(
    0x30,
    ...names.dns.map((name) => tlv(0x82, Buffer.from(name))),
    ...names.ipv4.map((address) => tlv(0x87, Buffer.from(address.split('.').map(Number)))),
  );
  const isAuthority = tlv(0x30, Buffer.from('0603551d13', 'hex'), tlv(0x04, Buffer.from('30030101ff', 'hex')));
  const extensions = tlv(0x30, isAuthority, tlv(0x30, Buffer.from('0603551d11', 'hex'), tlv(0x04, alternatives)));
  const body = tlv(
    0x30,
    Buffer.from('a003020102020101', 'hex'),
    ECDSA_SHA256,
    issuer,
    validity,
    issuer,
    publicKey.export({ type: 'spki', format: 'der' }),
    tlv(0xa3, extensions),
  );
  const signature = tlv(0x03, Buffer.from([0]), sign('sha256', body, privateKey));
  const certificate = tlv(0x30, body, ECDSA_SHA256, signature).toString('base64');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
  };
}

/** Tag, length, value. */
function tlv(tag: number, ...parts: readonly Buffer[]): Buffer {
  const value = Buffer.concat(parts);
  const { length } = value;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), value]);
}
