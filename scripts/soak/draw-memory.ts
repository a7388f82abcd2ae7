/** Memory over time as a picture: the process, and what it holds after a collection. Plain SVG, no script. */

export interface MemorySample {
  readonly seconds: number;
  readonly processBytes: number;
  readonly heldBytes: number;
}

const WIDTH = 900;
const HEIGHT = 360;
const LEFT = 70;
const BOTTOM = 40;
const MB = 1024 * 1024;

export function drawMemory(samples: readonly MemorySample[]): string {
  const lastSecond = Math.max(1, ...samples.map(({ seconds }) => seconds));
  const largest = Math.max(MB, ...samples.map(({ processBytes, heldBytes }) => Math.max(processBytes, heldBytes)));
  const x = (seconds: number): string => (LEFT + (seconds / lastSecond) * (WIDTH - LEFT - 20)).toFixed(1);
  const y = (bytes: number): string => (HEIGHT - BOTTOM - (bytes / largest) * (HEIGHT - BOTTOM - 40)).toFixed(1);
  const line = (colour: string, size: (sample: MemorySample) => number): string => {
    const points = samples.map((sample) => `${x(sample.seconds)},${y(size(sample))}`).join(' ');
    return `<polyline fill="none" stroke="${colour}" stroke-width="2" points="${points}"/>`;
  };
  const label = (at: number, text: string): string =>
    `<text x="4" y="${y(at)}">${text}</text><line x1="${LEFT}" x2="${WIDTH}" y1="${y(at)}" y2="${y(at)}" stroke="#ddd"/>`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" font-family="system-ui, sans-serif" font-size="13">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
    '<text x="4" y="18" font-weight="bold">Memory of a host; grey: the process, green: held after a collection</text>',
    ...[0, 0.5, 1].map((share) => label(share * largest, `${Math.round((share * largest) / MB)} MB`)),
    line('#9aa0a6', ({ processBytes }) => processBytes),
    line('#2f6f4f', ({ heldBytes }) => heldBytes),
    `<text x="${LEFT}" y="${HEIGHT - 12}">0 s</text>`,
    `<text x="${WIDTH - 60}" y="${HEIGHT - 12}">${Math.round(lastSecond)} s</text>`,
    '</svg>',
    '',
  ].join('\n');
}
