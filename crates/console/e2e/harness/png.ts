// Makes the PNG files of screenshots smaller without changing a pixel: a palette where 256 colors are enough, and the
// slowest compression.

import { constants, deflateSync, inflateSync } from "node:zlib";

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

interface Chunk {
  type: string;
  data: Buffer;
}

/** Returns a smaller file with the same pixels, or the file itself. */
export function optimizePng(file: Buffer): Buffer {
  const chunks = chunksOf(file);
  const header = chunks.find((chunk) => chunk.type === "IHDR")!.data;
  const [width, height, depth, color] = [header.readUInt32BE(0), header.readUInt32BE(4), header[8], header[9]];
  const channels = { 2: 3, 6: 4 }[color as 2 | 6];
  if (depth !== 8 || channels === undefined) return file;
  const data = inflateSync(Buffer.concat(chunks.filter((chunk) => chunk.type === "IDAT").map((chunk) => chunk.data)));
  const pixels = unfilter(data, width, height, channels);
  const candidates = [withPalette(pixels, width, height, channels), encode(header, [], refilter(pixels, width * channels, height))];
  return candidates.filter((candidate) => candidate !== null).reduce((best, candidate) => (candidate.length < best.length ? candidate : best), file);
}

function chunksOf(file: Buffer): Chunk[] {
  const chunks: Chunk[] = [];
  for (let at = SIGNATURE.length; at < file.length; ) {
    const length = file.readUInt32BE(at);
    chunks.push({ type: file.toString("latin1", at + 4, at + 8), data: file.subarray(at + 8, at + 8 + length) });
    at += length + 12;
  }
  return chunks;
}

function unfilter(data: Buffer, width: number, height: number, channels: number): Buffer {
  const stride = width * channels;
  const pixels = Buffer.alloc(stride * height);
  for (let row = 0; row < height; row++) {
    const filter = data[row * (stride + 1)]!;
    for (let at = 0; at < stride; at++) {
      const raw = data[row * (stride + 1) + 1 + at]!;
      const { left, up, corner } = neighbors(pixels, row, at, stride, channels);
      pixels[row * stride + at] = raw + predict(filter, left, up, corner);
    }
  }
  return pixels;
}

function neighbors(pixels: Buffer, row: number, at: number, stride: number, channels: number): { left: number; up: number; corner: number } {
  const here = row * stride + at;
  return {
    left: at >= channels ? pixels[here - channels]! : 0,
    up: row > 0 ? pixels[here - stride]! : 0,
    corner: row > 0 && at >= channels ? pixels[here - stride - channels]! : 0,
  };
}

function predict(filter: number, left: number, up: number, corner: number): number {
  switch (filter) {
    case 1:
      return left;
    case 2:
      return up;
    case 3:
      return (left + up) >> 1;
    case 4: {
      const estimate = left + up - corner;
      const [a, b, c] = [Math.abs(estimate - left), Math.abs(estimate - up), Math.abs(estimate - corner)];
      return a <= b && a <= c ? left : b <= c ? up : corner;
    }
    default:
      return 0;
  }
}

/** Lines without a filter, or as differences to the line above where those are fewer. */
function refilter(pixels: Buffer, stride: number, height: number): Buffer {
  const lines: Buffer[] = [];
  for (let row = 0; row < height; row++) {
    const own = pixels.subarray(row * stride, (row + 1) * stride);
    const above = row > 0 ? pixels.subarray((row - 1) * stride, row * stride) : Buffer.alloc(stride);
    const up = Buffer.from(own.map((value, at) => value - above[at]!));
    const isSame = up.every((value) => value === 0);
    lines.push(Buffer.from([isSame ? 2 : 0]), isSame ? up : own);
  }
  return Buffer.concat(lines);
}

function withPalette(pixels: Buffer, width: number, height: number, channels: number): Buffer | null {
  const indexes = new Map<number, number>();
  const indexed = Buffer.alloc(width * height);
  for (let at = 0; at < width * height; at++) {
    const color = pixels.readUIntBE(at * channels, 3);
    let index = indexes.get(color);
    if (index === undefined) {
      index = indexes.size;
      if (index === 256) return null;
      indexes.set(color, index);
    }
    indexed[at] = index;
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  const palette = Buffer.alloc(indexes.size * 3);
  for (const [color, index] of indexes) palette.writeUIntBE(color, index * 3, 3);
  return encode(header, [{ type: "PLTE", data: palette }], refilter(indexed, width, height));
}

function encode(header: Buffer, more: Chunk[], lines: Buffer): Buffer {
  const data = deflateSync(lines, { level: 9, memLevel: 9, strategy: constants.Z_DEFAULT_STRATEGY });
  const chunks = [{ type: "IHDR", data: header }, ...more, { type: "IDAT", data }, { type: "IEND", data: Buffer.alloc(0) }];
  return Buffer.concat([SIGNATURE, ...chunks.map(encodeChunk)]);
}

function encodeChunk({ type, data }: Chunk): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(checksum(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

const TABLE = Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value >>> 0;
});

/** The CRC-32 of PNG. */
function checksum(data: Buffer): number {
  let value = 0xffffffff;
  for (const byte of data) value = TABLE[(value ^ byte) & 0xff]! ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}
