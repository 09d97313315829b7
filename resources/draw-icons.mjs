// Draws the tray icons and the application icon into this folder: node resources/draw-icons.mjs
// One mark, eight states told apart by shape. No library: curves become points, a pixel's cover is counted from samples.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deflateSync } from 'node:zlib';

const here = dirname(fileURLToPath(import.meta.url));
const SAMPLES = 6;
/** Edge of the grid that all shapes below are given in. */
const GRID = 22;

/** The mark: three scratches, each a cubic curve (start, control, control, end), as a coarse and a fine line. */
const scratches = [
  curve([5.8, 3.5], [4.2, 8.3], [4.7, 13.4], [7.7, 18.6]),
  curve([11.7, 2.8], [10.3, 8.1], [10.7, 13.2], [13, 19]),
  curve([17.5, 4.2], [16.5, 8.7], [16.7, 12.7], [18.3, 17.4]),
];
const badgeAt = [16.5, 15.8];

/** @param {[number, number][]} points */
function curve(...points) {
  return [24, 400].map((steps) => along(points, steps));
}

function along(points, steps) {
  const [a, b, c, d] = points;
  return Array.from({ length: steps + 1 }, (_, i) => {
    const t = i / steps;
    const u = 1 - t;
    const at = (k) => u * u * u * a[k] + 3 * u * u * t * b[k] + 3 * u * t * t * c[k] + t * t * t * d[k];
    return [at(0), at(1)];
  });
}

function distanceToLine(x, y, line) {
  let best = Number.POSITIVE_INFINITY;
  for (let i = 1; i < line.length; i += 1) {
    const [ax, ay] = line[i - 1];
    const [bx, by] = line[i];
    const dx = bx - ax;
    const dy = by - ay;
    const t = Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy)));
    best = Math.min(best, Math.hypot(x - ax - t * dx, y - ay - t * dy));
  }
  return best;
}

/** Points at equal distances along a line. */
function dots(line, step) {
  const found = [line[0]];
  let walked = 0;
  for (let i = 1; i < line.length; i += 1) {
    walked += Math.hypot(line[i][0] - line[i - 1][0], line[i][1] - line[i - 1][1]);
    if (walked >= step) {
      found.push(line[i]);
      walked = 0;
    }
  }
  return found;
}

const strokes = (width) => (x, y) => scratches.some(([line]) => distanceToLine(x, y, line) <= width / 2);
const dotted = () => {
  const points = scratches.flatMap(([, fine]) => dots(fine, 3.6));
  return (x, y) => points.some(([px, py]) => Math.hypot(x - px, y - py) <= 1.25);
};
const circle = (cx, cy, r) => (x, y) => Math.hypot(x - cx, y - cy) <= r;
const box = (left, top, right, bottom) => (x, y) => x >= left && x <= right && y >= top && y <= bottom;
const [bx, by] = badgeAt;
const badges = {
  working: circle(bx, by - 0.3, 3.6),
  learning: (x, y) => Math.abs(x - bx) + Math.abs(y - by) <= 4.6,
  attention: (x, y) => y <= 20 && y >= 11 && Math.abs(x - bx) <= ((y - 11) / 9) * 4.9,
  paused: (x, y) => box(12.9, 11.4, 15.8, 20.1)(x, y) || box(17.5, 11.4, 20.4, 20.1)(x, y),
  error: (x, y) => {
    const inside = box(12, 11, 21, 20)(x, y);
    const dx = x - bx;
    const dy = y - 15.5;
    const cross = Math.max(Math.abs(dx), Math.abs(dy)) <= 2.6 && Math.abs(Math.abs(dx) - Math.abs(dy)) <= 0.9;
    return inside && !cross;
  },
};
/** With a badge, the mark keeps clear of it. */
const withBadge = (badge) => {
  const mark = strokes(2.5);
  const clear = circle(bx, by, 6.3);
  return (x, y) => badge(x, y) || (mark(x, y) && !clear(x, y));
};
const states = {
  stopped: strokes(1.2),
  starting: dotted(),
  ready: strokes(2.5),
  ...Object.fromEntries(Object.entries(badges).map(([name, badge]) => [name, withBadge(badge)])),
};

/** Renders a shape of the 22-unit grid; `colourAt` may paint what lies under it. */
function render(size, shape, [r, g, b]) {
  const pixels = Buffer.alloc(size * size * 4);
  for (let py = 0; py < size; py += 1) {
    for (let px = 0; px < size; px += 1) {
      let hits = 0;
      for (let sy = 0; sy < SAMPLES; sy += 1) {
        for (let sx = 0; sx < SAMPLES; sx += 1) {
          const x = ((px + (sx + 0.5) / SAMPLES) / size) * GRID;
          const y = ((py + (sy + 0.5) / SAMPLES) / size) * GRID;
          if (shape(x, y)) hits += 1;
        }
      }
      pixels.set([r, g, b, Math.round((hits / SAMPLES ** 2) * 255)], (py * size + px) * 4);
    }
  }
  return pixels;
}

/** The application icon: the mark in white on a dark rounded square. */
function renderApp(size) {
  const radius = 5;
  const rounded = (x, y) => {
    const dx = Math.max(1 + radius - x, x - (GRID - 1 - radius), 0);
    const dy = Math.max(1 + radius - y, y - (GRID - 1 - radius), 0);
    return box(1, 1, GRID - 1, GRID - 1)(x, y) && Math.hypot(dx, dy) <= radius;
  };
  const scale = 0.66;
  const shift = (v) => (v - GRID / 2) / scale + GRID / 2;
  const mark = strokes(2.5);
  const base = render(size, rounded, [0x1b, 0x1c, 0x20]);
  const top = render(size, (x, y) => mark(shift(x + 0.35), shift(y)), [0xff, 0xff, 0xff]);
  for (let i = 0; i < base.length; i += 4) {
    const a = top[i + 3] / 255;
    for (let k = 0; k < 3; k += 1) base[i + k] = Math.round(top[i + k] * a + base[i + k] * (1 - a));
  }
  return base;
}

const crcTable = Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; k += 1) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c >>> 0;
});
function crc(bytes) {
  let c = 0xffffffff;
  for (const byte of bytes) c = crcTable[(c ^ byte) & 0xff] ^ (c >>> 8);
  return (c ^ 0xffffffff) >>> 0;
}
function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE(crc(body), body.length + 4);
  return out;
}
/** PNG, 8 bit RGBA (RFC 2083). */
function png(size, pixels) {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(size, 0);
  head.writeUInt32BE(size, 4);
  head.set([8, 6, 0, 0, 0], 8);
  const rows = Buffer.alloc(size * (size * 4 + 1));
  for (let y = 0; y < size; y += 1) {
    pixels.copy(rows, y * (size * 4 + 1) + 1, y * size * 4, (y + 1) * size * 4);
  }
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

const tray = join(here, 'tray');
rmSync(tray, { recursive: true, force: true });
mkdirSync(tray, { recursive: true });
const tones = { light: [0x16, 0x17, 0x1a], dark: [0xf4, 0xf4, 0xf6] };
let written = 0;
const write = (file, size, pixels) => {
  writeFileSync(file, png(size, pixels));
  written += 1;
};
for (const [state, shape] of Object.entries(states)) {
  // macOS tints a template image itself; the name has to end in Template.
  for (const [suffix, size] of [['', 18], ['@2x', 36]]) {
    write(join(tray, `${state}Template${suffix}.png`), size, render(size, shape, [0, 0, 0]));
  }
  // `light` stands on a light panel, `dark` on a dark one.
  for (const [tone, colour] of Object.entries(tones)) {
    for (const [suffix, size] of [['', 22], ['@2x', 44]]) {
      write(join(tray, `${state}-${tone}${suffix}.png`), size, render(size, shape, colour));
    }
    for (const [suffix, size] of [['', 16], ['@1.5x', 24], ['@2x', 32]]) {
      write(join(tray, `${state}-${tone}-win${suffix}.png`), size, render(size, shape, colour));
    }
  }
}
write(join(here, 'icon.png'), 512, renderApp(512));
process.stdout.write(`${written} icons drawn\n`);
