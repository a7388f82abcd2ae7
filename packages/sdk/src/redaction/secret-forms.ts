/** The spellings in which a secret travels: as it is, inside JSON, in a URL, in base64 at each of its three alignments. */

/** Anything shorter is part of ordinary text: covering it would cover the text. */
export const MIN_SECRET_LENGTH = 4;
/** Of a key in several lines each one is telling. */
const MIN_LINE_LENGTH = 16;
/** Fewer bytes leave too little behind that is the same whatever stands before them. */
const MIN_SHIFTED_BYTES = 8;

/** Each once. */
export function secretForms(secrets: Iterable<string>): readonly string[] {
  const forms = new Set<string>();
  for (const secret of secrets) {
    if (secret.length < MIN_SECRET_LENGTH) continue;
    for (const form of spellings(secret)) forms.add(form);
    if (!/[\r\n]/.test(secret)) continue;
    const lines = secret.split(/\r?\n/).filter((line) => line.length >= MIN_LINE_LENGTH);
    for (const line of lines) for (const form of spellings(line)) forms.add(form);
  }
  return [...forms];
}

function spellings(secret: string): readonly string[] {
  const escaped = JSON.stringify(secret).slice(1, -1);
  const plain = [secret, escaped, escaped.replaceAll('/', '\\/')];
  if (!secret.isWellFormed()) return plain;
  const encoded = encodeURIComponent(secret);
  const lower = encoded.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
  const packed = new Set([secret, escaped]);
  const base64 = [...packed].flatMap((text) => base64Forms(Buffer.from(text)));
  return [...plain, encoded, lower, encoded.replaceAll('%20', '+'), ...base64];
}

/** What is left of the base64 text of anything that holds these bytes, whatever stands before and behind them. */
function base64Forms(bytes: Buffer): readonly string[] {
  const shifts = bytes.length < MIN_SHIFTED_BYTES ? [0] : [0, 1, 2];
  const forms = shifts.map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64url');
    const end = Math.floor(((shift + bytes.length) * 8) / 6);
    return text.slice(Math.ceil((shift * 8) / 6), end);
  });
  return forms.flatMap((form) => [form, form.replaceAll('-', '+').replaceAll('_', '/')]);
}
