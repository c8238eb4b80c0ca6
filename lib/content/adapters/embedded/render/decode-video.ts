/**
 * Decodes a video track, packet by packet, in presentation order.
 *
 * The decoder runs synchronously. Its asynchronous form delivers frames and the completion of a flush
 * through two queues, so that the last frames can arrive after the flush and be lost; and it stamps a
 * frame with the time of the packet that pushed it out. Here the frames of a packet are available when
 * `decode` returns, and their times are the sorted times of the packets.
 */
import { type EncodedPacket, EncodedPacketSink, type InputVideoTrack } from "mediabunny";
import { EncodedVideoChunk, VideoDecoder, type VideoFrame } from "node-webcodecs";
import { createFrame, type Frame } from "./frame.ts";
import { readMedia } from "./open-media.ts";
import { UnusableInput } from "./unusable-input.ts";

export interface DecodedFrame {
  readonly frame: Frame;
  /** The time in seconds at which the next frame is shown; infinite for the last frame. */
  readonly until: number;
}

/** @throws UnusableInput with the message when the track cannot be decoded to its end. */
export async function* decodeVideo(
  track: InputVideoTrack,
  message: string,
): AsyncGenerator<DecodedFrame> {
  const { codec, config, packets, fullRange } = await readMedia(message, () => readPackets(track));
  const shown = codec === "vp8" ? packets.filter(isShown) : packets;
  const times = shown.map(({ timestamp }) => timestamp).sort((one, other) => one - other);
  const decoded: VideoFrame[] = [];
  const faults: unknown[] = [];
  const decoder = new VideoDecoder({
    output: (frame) => decoded.push(frame),
    error: (fault) => faults.push(fault),
  });
  await readMedia(message, async () => decoder.configure(config));
  let count = 0;
  for (const packet of [...packets, null]) {
    if (packet) decoder.decode(chunkOf(packet));
    else await decoder.flush();
    if (faults.length > 0) throw new UnusableInput(message, faults[0]);
    for (const picture of decoded.splice(0)) {
      const frame = await readMedia(message, () => readPixels(picture));
      picture.close();
      if (fullRange) limitRange(frame);
      count += 1;
      yield { frame, until: times[count] ?? Number.POSITIVE_INFINITY };
    }
  }
  decoder.close();
  if (count === 0) throw new UnusableInput(message, "the decoder returned no frame");
}

async function readPackets(track: InputVideoTrack) {
  const found = await track.getDecoderConfig();
  if (!found) throw new Error("the track has no decoder configuration");
  const packets: EncodedPacket[] = [];
  // The size of the file bounds this loop.
  for await (const packet of new EncodedPacketSink(track).packets()) packets.push(packet);
  const { description } = found;
  const size = {
    codedWidth: await track.getCodedWidth(),
    codedHeight: await track.getCodedHeight(),
  };
  const config = {
    ...{ codec: found.codec, ...size, useWorkerThread: false },
    ...(description ? { description: description as Uint8Array } : {}),
  };
  const { fullRange } = await track.getColorSpace();
  return { codec: await track.getCodec(), config, packets, fullRange };
}

const chunkOf = ({ type, data, microsecondTimestamp }: EncodedPacket) =>
  new EncodedVideoChunk({ type, data, timestamp: microsecondTimestamp });

/** VP8 has packets that only later ones refer to and that are not shown (RFC 6386, section 9.1). */
const isShown = ({ data }: EncodedPacket): boolean => ((data[0] ?? 0) & 0x10) !== 0;

/** Omits the last row or column of an odd side, because the chroma planes have half the size. */
async function readPixels(picture: VideoFrame): Promise<Frame> {
  const { codedWidth, codedHeight, format } = picture;
  const frame = createFrame({ width: codedWidth & ~1, height: codedHeight & ~1 });
  if (format !== "I420") {
    const rect = { x: 0, y: 0, width: frame.width, height: frame.height };
    await picture.copyTo(frame.data, { format: "I420", rect });
    return frame;
  }
  // The decoder also reports I420 for pixel formats that it has no name for. Copying without a
  // conversion, into as many bytes as 8-bit I420 has, fails for formats with more bits per sample.
  const [width, height] = [(codedWidth + 1) >> 1, (codedHeight + 1) >> 1];
  const [luma, chroma] = [codedWidth * codedHeight, width * height];
  const bytes = new Uint8Array(luma + 2 * chroma);
  await picture.copyTo(bytes);
  cropPlane(bytes, codedWidth, frame.y, frame.width);
  cropPlane(bytes.subarray(luma), width, frame.u, frame.width / 2);
  cropPlane(bytes.subarray(luma + chroma), width, frame.v, frame.width / 2);
  return frame;
}

function cropPlane(from: Uint8Array, stride: number, to: Uint8Array, width: number): void {
  for (let row = 0; row * width < to.length; row++) {
    to.set(from.subarray(row * stride, row * stride + width), row * width);
  }
}

/** Converts full range (0 to 255), which some cameras record, to the limited range of all frames. */
function limitRange({ y, u, v }: Frame): void {
  for (let at = 0; at < y.length; at++) y[at] = 16 + Math.round(((y[at] as number) * 219) / 255);
  for (const plane of [u, v]) {
    for (let at = 0; at < plane.length; at++) {
      plane[at] = 128 + Math.round((((plane[at] as number) - 128) * 224) / 255);
    }
  }
}
