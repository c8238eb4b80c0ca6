/** A turn's Server-Sent Events as a client sees them: each chunk with its index, as it comes. */
import { readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";
import { convertArrayToReadableStream } from "ai/test";
import { createParser } from "eventsource-parser";
import { expect } from "vitest";

export interface Frame {
  readonly id: number;
  readonly chunk: UIMessageChunk;
}

export class TurnStream {
  readonly status: number;
  readonly headers: Headers;
  /** Grows while the stream is read. */
  readonly frames: Frame[] = [];
  /** Comment lines, which keep a silent connection open. */
  comments = 0;
  /** `[DONE]` was seen. */
  isDone = false;
  /** Resolves with the frames when the connection is over, whatever the reason. */
  readonly ended: Promise<Frame[]>;
  /** The body as it was sent. */
  text = "";
  readonly #leave: AbortController;
  #waiting: (() => void)[] = [];
  #isOver = false;

  constructor(response: Response, leave: AbortController) {
    this.status = response.status;
    this.headers = response.headers;
    this.#leave = leave;
    this.ended = this.#read(response).then(() => this.frames);
  }

  get chunks(): UIMessageChunk[] {
    return this.frames.map((frame) => frame.chunk);
  }

  get runId(): string {
    return this.headers.get("x-workflow-run-id") ?? "";
  }

  /** The first frame, seen already or still to come, that `matches`. */
  async until(
    matches: (chunk: UIMessageChunk, frame: Frame) => boolean,
    what = "the chunk",
  ): Promise<Frame> {
    for (let next = 0; ; next++) {
      while (next >= this.frames.length) {
        if (this.#isOver) {
          const seen = JSON.stringify(this.chunks).slice(-2000);
          throw new Error(
            `The stream (${this.status}) ended without ${what}: ${seen} ${this.text.slice(0, 500)}`,
          );
        }
        await new Promise<void>((resolve) => this.#waiting.push(resolve));
      }
      const frame = this.frames[next];
      if (frame && matches(frame.chunk, frame)) return frame;
    }
  }

  /** The client goes away. */
  leave(): void {
    this.#leave.abort();
  }

  async #read(response: Response): Promise<void> {
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
    const parser = createParser({
      onComment: () => void this.comments++,
      onEvent: ({ id, data }) => {
        if (data === "[DONE]") this.isDone = true;
        else this.frames.push({ id: Number(id), chunk: JSON.parse(data) });
      },
    });
    try {
      for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        this.text += piece;
        if (isStream) parser.feed(piece);
        this.#wake();
      }
    } catch {
      // The server died or the client left: frames read so far stay.
    }
    this.#isOver = true;
    this.#wake();
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

/** The message of a client that holds `before` after these chunks. */
export async function assemble(
  chunks: readonly UIMessageChunk[],
  before?: UIMessage,
): Promise<UIMessage> {
  let message = before;
  const errors: unknown[] = [];
  const states = readUIMessageStream({
    stream: convertArrayToReadableStream([...chunks]),
    ...(before ? { message: structuredClone(before) } : {}),
    onError: (error) => errors.push(error),
  });
  for await (const state of states) message = state;
  // An `error` chunk is reported the same way as chunks that make no sense together.
  const told = chunks.flatMap((chunk) => (chunk.type === "error" ? [chunk.errorText] : []));
  expect(errors.map((error) => (error instanceof Error ? error.message : error))).toEqual(told);
  if (!message) throw new Error("The chunks make no message");
  return JSON.parse(JSON.stringify(message));
}

/** The whole of one turn: indexes dense from 0, one start, one finish, nothing after it. */
export function expectCompleteTurn(frames: readonly Frame[]): void {
  expect(frames.map((frame) => frame.id)).toEqual(frames.map((_, place) => place));
  const types = frames.map((frame) => frame.chunk.type);
  expect(types.filter((type) => type === "start")).toHaveLength(1);
  expect(types.filter((type) => type === "finish")).toHaveLength(1);
  expect(types[0]).toBe("start");
  expect(types.at(-1)).toBe("finish");
}

/** The text that a message shows. */
export function textOf(message: { readonly parts: readonly unknown[] } | undefined): string {
  const parts = (message?.parts ?? []) as UIMessage["parts"];
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}
