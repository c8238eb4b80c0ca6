/**
 * `reference`: a scene of its own in the style of the image, which is not its first picture. A
 * backdrop and lights in the image's colours, and before them its subject, cut out and afloat.
 */
import sharp from "sharp";
import type { VideoOrder } from "../../../port.ts";
import { roomy, soundOf } from "./animate.ts";
import { type CameraPath, chooseCamera, ease, lookAt, type Pose } from "./camera.ts";
import type { Clip } from "./clip.ts";
import { drawLayer, drawOver, type Mapping } from "./draw.ts";
import { createFrame, type Frame, frameFromRgb, type Layer, layerFromRgba } from "./frame.ts";
import { frameSize } from "./frame-size.ts";
import { createVignette, gradeWith, lookOf } from "./grade.ts";
import { type Palette, paletteOf } from "./palette.ts";
import { createRandom, type Random } from "./random.ts";
import { type Image, rawRgb } from "./read-image.ts";
import { svg } from "./svg.ts";
import { FRAME_RATE } from "./write-video.ts";

interface Size {
  readonly width: number;
  readonly height: number;
}

interface Scene {
  readonly backdrop: Frame;
  readonly farLights: Layer;
  readonly card: Layer;
  readonly nearLights: Layer;
}

export async function reference(order: VideoOrder, image: Image): Promise<Clip> {
  const size = frameSize(order.aspectRatio, order.resolution, image);
  const random = createRandom(order.seed, "reference");
  const palette = await paletteOf(image);
  const grade = gradeWith(lookOf(order.mood ?? order.prompt));
  const room = { width: roomy(size.width), height: roomy(size.height) };
  const scene: Scene = {
    backdrop: await paintBackdrop(image, palette, room, random, grade),
    farLights: await paintLights(palette, room, random, 16, 0.035),
    card: await cutCard(image, size, grade),
    nearLights: await paintLights(palette, room, random, 6, 0.11),
  };
  const path = chooseCamera(order, createRandom(order.seed, "camera"));
  const count = Math.round(order.seconds * FRAME_RATE);
  return {
    ...size,
    frames: play(scene, size, path, random() * Math.PI * 2, count),
    sound: soundOf(order, order.seconds),
  };
}

function* play(
  { backdrop, farLights, card, nearLights }: Scene,
  { width, height }: Size,
  path: CameraPath,
  phase: number,
  count: number,
): Iterable<Frame> {
  const frame = createFrame(width, height);
  const darken = createVignette(width, height, 0.3);
  for (let index = 0; index < count; index++) {
    const progress = index / (count - 1);
    const camera = path(progress);
    const seconds = index / FRAME_RATE;
    drawOver(frame, backdrop, lookAt(frame, backdrop, closer(camera, 1)));
    // What is nearer moves more: that makes the depth.
    drawLayer(
      frame,
      farLights,
      lookAt(frame, farLights, afloat(camera, 1.05, seconds, phase)),
      0.75,
    );
    // It comes a moment later: the first picture is not the image.
    const entrance = ease(Math.min(1, seconds / 0.8));
    drawLayer(frame, card, placeCard(frame, card, camera, seconds, phase), entrance);
    drawLayer(
      frame,
      nearLights,
      lookAt(frame, nearLights, afloat(camera, 1.25, seconds, -phase)),
      0.5,
    );
    darken(frame);
    yield frame;
  }
}

const closer = (pose: Pose, factor: number): Pose => ({ ...pose, zoom: pose.zoom * factor });

const afloat = (camera: Pose, depth: number, seconds: number, phase: number): Pose => ({
  zoom: camera.zoom ** depth * 1.06,
  x: camera.x * 0.6 + 0.4 * Math.sin(seconds * 0.5 * depth + phase),
  y: camera.y * 0.6 + 0.4 * Math.cos(seconds * 0.4 * depth + phase),
  roll: camera.roll,
});

function placeCard(
  frame: Frame,
  card: Layer,
  camera: Pose,
  seconds: number,
  phase: number,
): Mapping {
  const zoom = 0.9 + 0.1 * ease(Math.min(1, seconds / 1.6)) + 0.5 * (camera.zoom - 1);
  const angle = 0.02 * Math.sin(seconds * 0.8 + phase) + camera.roll;
  const x = frame.width * (0.5 - 0.05 * camera.x + 0.006 * Math.sin(seconds * 0.9 + phase));
  const y = frame.height * (0.5 - 0.05 * camera.y + 0.01 * Math.cos(seconds * 1.1 + phase));
  const [a, d] = [Math.cos(angle) / zoom, Math.sin(angle) / zoom];
  return {
    a,
    b: -d,
    c: card.width / 2 - a * x + d * y,
    d,
    e: a,
    f: card.height / 2 - d * x - a * y,
  };
}

/** The image beyond recognition, under a slope of its own colours. */
async function paintBackdrop(
  image: Image,
  palette: Palette,
  { width, height }: Size,
  random: Random,
  grade: ReturnType<typeof gradeWith>,
): Promise<Frame> {
  const angle = Math.round(random() * 360);
  const slope = svg(
    width,
    height,
    `<defs><linearGradient id="g" gradientTransform="rotate(${angle} .5 .5)">
      <stop offset="0" stop-color="${palette[0]}"/><stop offset=".55" stop-color="${palette[1]}"/>
      <stop offset="1" stop-color="${palette[3]}"/></linearGradient></defs>
    <rect width="100%" height="100%" fill="url(#g)" opacity=".62"/>`,
  );
  // Blurred while it is small: the same to see, and quick at every size.
  const small = await image.open().resize(320, 180, { fit: "cover" }).blur(14).png().toBuffer();
  const painted = sharp(small)
    .resize(width, height, { fit: "fill" })
    .composite([{ input: slope }]);
  const flat = await painted.png({ compressionLevel: 1 }).toBuffer();
  return frameFromRgb(await rawRgb(grade(sharp(flat))), width, height);
}

/** @param radius the mean one, in shares of the shorter side */
async function paintLights(
  palette: Palette,
  { width, height }: Size,
  random: Random,
  count: number,
  radius: number,
): Promise<Layer> {
  const bright = palette.slice(2);
  const circles = Array.from({ length: count }, () => {
    const size = Math.min(width, height) * radius * (0.5 + random());
    const colour = bright[Math.floor(random() * bright.length)];
    const place = `cx="${random() * width}" cy="${random() * height}" r="${size}"`;
    return `<circle ${place} fill="${colour}" opacity="${0.25 + 0.45 * random()}"/>`;
  });
  const blur = Math.min(width, height) * radius * 0.16;
  const drawing = `<defs><filter id="b" x="-50%" y="-50%" width="200%" height="200%">
    <feGaussianBlur stdDeviation="${blur}"/></filter></defs><g filter="url(#b)">${circles.join("")}</g>`;
  const rgba = await sharp(svg(width, height, drawing))
    .ensureAlpha()
    .raw()
    .toBuffer();
  return layerFromRgba(rgba, width, height);
}

/** The part of the image that draws the eye, with round corners, a light rim and a shadow. */
async function cutCard(
  image: Image,
  size: Size,
  grade: ReturnType<typeof gradeWith>,
): Promise<Layer> {
  const shortest = Math.min(size.width, size.height);
  const isTall = image.height > image.width;
  const long = Math.round((shortest * 0.68) / 2) * 2;
  const short = Math.round((long * 0.8) / 2) * 2;
  const [width, height] = isTall ? [short, long] : [long, short];
  const margin = Math.round(shortest * 0.05) * 2;
  const corner = Math.round(shortest * 0.03);
  const box = `width="${width}" height="${height}" rx="${corner}"`;
  const subject = image.open().resize(width, height, { fit: "cover", position: "attention" });
  const photo = await sharp(await grade(subject).png({ compressionLevel: 1 }).toBuffer())
    .ensureAlpha()
    .composite([
      { input: svg(width, height, `<rect ${box} fill="#fff"/>`), blend: "dest-in" },
      {
        input: svg(
          width,
          height,
          `<rect x="1.5" y="1.5" width="${width - 3}" height="${height - 3}" rx="${corner - 1}"
            fill="none" stroke="#fff" stroke-opacity=".55" stroke-width="3"/>`,
        ),
      },
    ])
    .png({ compressionLevel: 1 })
    .toBuffer();
  const [outerWidth, outerHeight] = [width + 2 * margin, height + 2 * margin];
  const shadow = svg(
    outerWidth,
    outerHeight,
    `<defs><filter id="s" x="-50%" y="-50%" width="200%" height="200%">
      <feGaussianBlur stdDeviation="${margin * 0.28}"/></filter></defs>
    <rect x="${margin}" y="${margin * 1.2}" ${box} fill="#000" opacity=".6" filter="url(#s)"/>`,
  );
  const rgba = await sharp(shadow)
    .ensureAlpha()
    .composite([{ input: photo, left: margin, top: margin }])
    .raw()
    .toBuffer();
  return layerFromRgba(rgba, outerWidth, outerHeight);
}
