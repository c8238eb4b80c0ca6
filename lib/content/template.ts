/** The content template as callers see it. */
import { z } from "zod";

const editOperation = z
  .object({
    start: z.number().optional(),
    duration: z.number().optional(),
    aspect: z.string().optional(),
    width: z.number().optional(),
    height: z.number().optional(),
    content: z.string().optional(),
    font: z.string().optional(),
    color: z.string().optional(),
    stroke_color: z.string().optional(),
    max_font_size: z.number().optional(),
    audio_url: z.string().optional(),
    replace: z.boolean().optional(),
  })
  .meta({
    id: "EditOperation",
    description:
      "Times are in seconds, sizes in pixels. With `content`, it shows a text over the video from " +
      "`start` on; `{caption}` stands for the caption. With `audio_url`, it plays that file from its " +
      "`start` on, mixed with the video's own audio or, with `replace`, instead of it. Otherwise it trims " +
      "the video to `duration` from `start` on, crops it to `aspect` and scales it to `width` and `height`.",
  });
export type EditOperation = z.output<typeof editOperation>;

/** Parts that a template does not have are absent. */
export const contentTemplate = z
  .object({
    id: z.string(),
    description: z.string(),
    image: z
      .object({
        prompt: z.string().optional(),
        reference_images: z.array(z.string()).optional(),
        style_rules: z.record(z.string(), z.unknown()).optional(),
      })
      .optional(),
    video: z
      .object({
        moods: z.array(z.string()).optional(),
        movements: z.array(z.string()).optional(),
      })
      .optional(),
    caption: z
      .object({
        guide: z
          .object({
            tone: z.string().optional(),
            rules: z.array(z.string()).optional(),
            formats: z.array(z.string()).optional(),
          })
          .optional(),
        examples: z.array(z.string()).optional(),
      })
      .optional(),
    edit: z.object({ operations: z.array(editOperation).optional() }).optional(),
  })
  .meta({ id: "ContentTemplate" });
export type ContentTemplate = z.output<typeof contentTemplate>;

export const templateSummary = contentTemplate.pick({ id: true, description: true });
