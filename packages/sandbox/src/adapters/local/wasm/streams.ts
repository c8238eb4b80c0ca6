/** The standard streams of programs in WebAssembly. */
import type { EmscriptenFs, FsStream } from "./emscripten.ts";

/** The output of a program, in one buffer: an endless output must not fill the heap with its pieces. */
export class OutputBuffer {
  readonly #maxBytes: number;
  readonly #onWrite: ((piece: Uint8Array) => void) | undefined;
  #bytes = Buffer.allocUnsafe(8192);
  #length = 0;

  constructor(maxBytes: number, onWrite?: (piece: Uint8Array) => void) {
    this.#maxBytes = maxBytes;
    this.#onWrite = onWrite;
  }

  /** Throws an OutputLimitError. */
  write(piece: Uint8Array): void {
    const room = this.#maxBytes - this.#length;
    const kept = piece.subarray(0, room);
    const needed = this.#length + kept.byteLength;
    if (needed > this.#bytes.byteLength) {
      const larger = Buffer.allocUnsafe(Math.min(this.#maxBytes, needed * 2));
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    this.#bytes.set(kept, this.#length);
    this.#length = needed;
    this.#onWrite?.(kept);
    if (piece.byteLength > room) throw new OutputLimitError(this.#maxBytes);
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }
}

/** Ends a program. It has no `errno`, so the program cannot catch it. */
export class OutputLimitError extends Error {
  constructor(maxBytes: number) {
    super(`stopped after ${maxBytes} bytes of output`);
  }
}

export interface Streams {
  readonly stdin: Uint8Array;
  readonly stdout: OutputBuffer;
  readonly stderr: OutputBuffer;
}

/** Replaces the standard streams, which Emscripten reads and writes byte by byte. */
export function connectStreams(fs: EmscriptenFs, { stdin, stdout, stderr }: Streams): void {
  fs.init(
    () => null,
    () => {},
    () => {},
  );
  let consumed = 0;
  const read = (_: FsStream, heap: Int8Array, offset: number, length: number): number => {
    const piece = stdin.subarray(consumed, consumed + length);
    heap.set(piece, offset);
    consumed += piece.byteLength;
    return piece.byteLength;
  };
  const writeTo =
    (output: OutputBuffer) =>
    (_: FsStream, heap: Int8Array, offset: number, length: number): number => {
      output.write(new Uint8Array(heap.buffer, heap.byteOffset + offset, length));
      return length;
    };
  const devices = [
    { name: "stdin", mode: 0o444, flags: 0, ops: { read } },
    { name: "stdout", mode: 0o222, flags: 1, ops: { write: writeTo(stdout) } },
    { name: "stderr", mode: 0o222, flags: 1, ops: { write: writeTo(stderr) } },
  ];
  for (const [fd, { name, mode, flags, ops }] of devices.entries()) {
    const stream = fs.streams[fd];
    if (stream) fs.close(stream);
    const dev = fs.makedev(100, fd);
    const open = (opened: FsStream) => {
      opened.seekable = false;
    };
    fs.registerDevice(dev, { open, ...ops });
    fs.unlink(`/dev/${name}`);
    fs.mkdev(`/dev/${name}`, mode, dev);
    fs.open(`/dev/${name}`, flags);
  }
}
