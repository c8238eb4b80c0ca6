import type { MediaFile, VideoMode, VideoOrder } from "../../../port.ts";
import type { RenderReply } from "../protocol.ts";
import { animate } from "./animate.ts";
import type { Clip } from "./clip.ts";
import { extend } from "./extend.ts";
import { firstLast } from "./first-last.ts";
import { lipsync } from "./lipsync.ts";
import { type Image, readImage } from "./read-image.ts";
import { reference } from "./reference.ts";
import { createVideo } from "./write-video.ts";

const modes: Readonly<Record<VideoMode, (order: VideoOrder) => Promise<Clip>>> = {
  prompt: async (order) => animate(order, await imageOf(order)),
  animate: async (order) => animate(order, await imageOf(order)),
  reference: async (order) => reference(order, await imageOf(order)),
  extend: (order) => extend(order, given(order.video).path),
  "first-last": async (order) => {
    const last = await readImage(given(order.endImage).path, "end_image_url");
    return firstLast(order, await imageOf(order), last);
  },
  lipsync: async (order) => lipsync(order, await imageOf(order), given(order.audio).path),
};

/** @throws UnusableInput */
export async function renderVideo(order: VideoOrder, path: string): Promise<RenderReply> {
  const clip = await modes[order.mode](order);
  const video = await createVideo(path, clip.width, clip.height, clip.sound);
  for await (const frame of clip.frames) await video.add(frame);
  await video.finish();
  return { op: "video" };
}

function imageOf({ image }: VideoOrder): Promise<Image> {
  return readImage(given(image).path, "image_url");
}

/** The use case has checked that the mode's inputs are there. */
function given(file: MediaFile | undefined): MediaFile {
  if (!file) throw new Error("The order lacks an input of its mode");
  return file;
}
