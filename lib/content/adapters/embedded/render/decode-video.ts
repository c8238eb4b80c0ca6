/**
 * Decodes a video track, packet by packet, in presentation order.
 *
 * The decoder runs synchronously. Its asynchronous form delivers frames and the completion of a flush
 * through two queues: the last frames can arrive after the flush and be lost. It also stamps a frame with
 * the time of the packet that pushed it out. Here the frames of a packet are available when `decode`
 * returns, and their times are the sorted times of the packets.
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
  const { codec, config, packets } = await readMedia(message, () => readPackets(track));
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
  return { codec: await track.getCodec(), config, packets };
}

const chunkOf = ({ type, data, microsecondTimestamp }: EncodedPacket) =>
  new EncodedVideoChunk({ type, data, timestamp: microsecondTimestamp });

/** VP8 has packets that only later ones refer to and that are not shown (RFC 6386, section 9.1). */
const isShown = ({ data }: EncodedPacket): boolean => ((data[0] ?? 0) & 0x10) !== 0;

async function readPixels(picture: VideoFrame): Promise<Frame> {
  const [width, height] = [picture.codedWidth, picture.codedHeight];
  if (picture.format === "I420") {
    // The decoder also reports I420 for pixel formats that it has no name for. Copying without a
    // conversion, into as many bytes as 8-bit I420 has, fails for formats with more bits per sample.
    const frame = createFrame({ width, height });
    await picture.copyTo(frame.data);
    return frame;
  }
  // A conversion omits the last row or column of an odd side.
  const frame = createFrame({ width: width & ~1, height: height & ~1 });
  const rect = { x: 0, y: 0, width: frame.width, height: frame.height };
  await picture.copyTo(frame.data, { format: "I420", rect });
  return frame;
}
