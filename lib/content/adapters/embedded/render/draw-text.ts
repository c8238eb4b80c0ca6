/** Draws text, optionally with an outline, into a transparent image. */
import { createRequire } from "node:module";
import sharp from "sharp";
import type { Size } from "./frame.ts";

/** The bundled font, because a server may have none. Other names refer to fonts of the system. */
const FONT = "Anton";
const fontfile = createRequire(import.meta.url).resolve(
  "@expo-google-fonts/anton/400Regular/Anton_400Regular.ttf",
);

export interface TextStyle {
  readonly font?: string | undefined;
  /** `#rrggbb` */
  readonly color: string;
  readonly strokeColor?: string | undefined;
  /** In pixels. */
  readonly fontSize: number;
}

/** Where the text is drawn: lines are wrapped and shrunk to fit into the box. */
export interface TextBox extends Size {
  /** The vertical position of its middle, in pixels; horizontally it is centred. */
  readonly middle: number;
}

/** Returns an image of the size of the canvas, as RGBA bytes; null when nothing is visible. */
export async function drawText(
  content: string,
  style: TextStyle,
  box: TextBox,
  canvas: Size,
): Promise<Buffer | null> {
  const words = content.replace(/\p{Cc}/gu, " ").trim();
  if (words === "") return null;
  const { font, color, strokeColor, fontSize } = style;
  const stroke = strokeColor ? Math.max(1, Math.round(fontSize / 14)) : 0;
  const pad = 2 * stroke;
  const width = Math.round(box.width) - 2 * pad;
  const escaped = words.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  const letters = await sharp({
    text: {
      text: `<span foreground="${color}">${escaped}</span>`,
      // At 72 dpi, a point is a pixel.
      ...{ font: `${font ? `${font}, ` : ""}${FONT} ${Math.round(fontSize)}`, fontfile, dpi: 72 },
      ...{ rgba: true, width, align: "centre", wrap: "word-char" },
    },
  })
    .resize({ width, height: Math.round(box.height), fit: "inside", withoutEnlargement: true })
    .extend({ top: pad, bottom: pad, left: pad, right: pad, background: "#00000000" })
    .png()
    .toBuffer({ resolveWithObject: true });
  const layers = [letters.data];
  if (strokeColor) {
    const { width, height } = letters.info;
    // The outline consists of the letters, blurred and made opaque again.
    const alpha = await sharp(letters.data).extractChannel("alpha").png().toBuffer();
    const mask = await sharp(alpha)
      .blur(Math.max(0.5, stroke * 0.7))
      .linear(5, 0)
      .toColourspace("b-w")
      .raw()
      .toBuffer();
    const outline = sharp({ create: { width, height, channels: 3, background: strokeColor } });
    layers.unshift(
      await outline
        .joinChannel(mask, { raw: { width, height, channels: 1 } })
        .png()
        .toBuffer(),
    );
  }
  const left = Math.round((canvas.width - letters.info.width) / 2);
  const top = Math.round(box.middle - letters.info.height / 2);
  const { width: columns, height: rows } = canvas;
  return sharp({ create: { width: columns, height: rows, channels: 4, background: "#00000000" } })
    .composite(layers.map((input) => ({ input, left, top: Math.max(0, top) })))
    .raw()
    .toBuffer();
}
