/** Draws text, optionally with an outline, as an image with a transparent background. */
import { createRequire } from "node:module";
import sharp, { type Sharp } from "sharp";

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

export interface TextImage {
  /** Four bytes per pixel, with straight (not premultiplied) alpha. */
  readonly rgba: Buffer;
  readonly width: number;
  readonly height: number;
}

/** Wraps lines at the width and shrinks text that is still too large; null when nothing is visible. */
export async function drawText(
  content: string,
  style: TextStyle,
  box: { readonly width: number; readonly height: number },
): Promise<TextImage | null> {
  const words = content.replace(/\p{Cc}/gu, " ").trim();
  if (words === "") return null;
  const stroke = style.strokeColor ? Math.max(1, Math.round(style.fontSize / 14)) : 0;
  const family = style.font ? `${style.font}, ${FONT}` : FONT;
  const escaped = words.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  const pad = 2 * stroke;
  const set = await sharp({
    text: {
      text: `<span foreground="#ffffff">${escaped}</span>`,
      // At 72 dpi, a point is a pixel.
      ...{ font: `${family} ${Math.round(style.fontSize)}`, fontfile, dpi: 72, rgba: true },
      ...{ width: Math.round(box.width - 2 * pad), align: "centre", wrap: "word-char" },
    },
  })
    .extend({ top: pad, bottom: pad, left: pad, right: pad, background: "#00000000" })
    .png()
    .toBuffer();
  const bounds = { width: Math.round(box.width), height: Math.round(box.height) };
  const letters = await sharp(set)
    .resize({ ...bounds, fit: "inside", withoutEnlargement: true })
    .extractChannel("alpha")
    .png()
    .toBuffer();
  const { width, height } = await sharp(letters).metadata();
  const layers = [await paint(style.color, sharp(letters), { width, height })];
  if (style.strokeColor) {
    // The outline consists of the letters, blurred and made opaque again.
    const wider = sharp(letters)
      .blur(Math.max(0.5, stroke * 0.7))
      .linear(5, 0);
    layers.unshift(await paint(style.strokeColor, wider, { width, height }));
  }
  const rgba = await sharp({ create: { width, height, channels: 4, background: "#00000000" } })
    .composite(layers.map((input) => ({ input })))
    .raw()
    .toBuffer();
  return { rgba, width, height };
}

/** Returns a PNG of one colour with the mask as its alpha channel. */
async function paint(
  background: string,
  mask: Sharp,
  size: { readonly width: number; readonly height: number },
): Promise<Buffer> {
  const alpha = await mask.toColourspace("b-w").raw().toBuffer();
  return sharp({ create: { ...size, channels: 3, background } })
    .joinChannel(alpha, { raw: { ...size, channels: 1 } })
    .png()
    .toBuffer();
}
