/** The endpoints of content templates, generations and generated media. */

import { contract, successResponse } from "@platform/endpoint/contract/contract";
import { uuid, withoutTags } from "@platform/endpoint/contract/fields";
import {
  ASPECT_RATIOS,
  IMAGE_ASPECT_RATIOS,
  RESOLUTIONS,
  standInOutput,
  VIDEO_MODES,
} from "@platform/media/port";
import { IMAGE_TYPES } from "@platform/media/sniff-type";
import { z } from "zod";
import { MEDIA_TYPES } from "./storage/media-name.ts";
import { contentTemplate, templateSummary } from "./template.ts";

const shared = { tag: "Content", family: "plain", auth: "required" } as const;

export const listContentTemplatesContract = contract({
  ...shared,
  method: "GET",
  path: "/api/content/templates",
  runCredential: true,
  words: "own",
  tool: true,
  summary: "List content templates",
  description: "Images and videos take the id of a template as `template`.",
  responses: successResponse("Every template", { templates: z.array(templateSummary) }),
  errors: [],
});

export const getContentTemplateContract = contract({
  ...shared,
  method: "GET",
  path: "/api/content/templates/{id}",
  runCredential: true,
  words: "own",
  tool: true,
  summary: "Read a content template",
  params: z.object({ id: z.string().describe("The template's `id`") }),
  responses: { 200: { description: "The full configuration", schema: contentTemplate } },
  errors: ["not_found"],
});

const mediaUrl = z.url().max(2048);
const prompt = withoutTags(z.string().trim().max(10_000));
/** Segments separated by slashes, as providers name models; nothing that could change a path. */
const model = z
  .string()
  .max(200)
  .regex(/^[A-Za-z0-9][\w.-]*(\/[A-Za-z0-9][\w.-]*)*$/);
const aspectRatio = z.enum(ASPECT_RATIOS).default("auto");
const resolution = z.enum(RESOLUTIONS).default("720p");
const template = z.string().min(1).max(100);

const artistId = uuid.optional().meta({
  description:
    "The artist that the work is for. Default for the credential of a run: the artist of its session",
});

const DURATIONS = ["4s", "6s", "7s", "8s"] as const;

export const videoBody = z.object({
  image_url: mediaUrl.optional().meta({
    description:
      "The input frame, or the face for `lipsync`. Required by every mode except `extend`",
  }),
  template: template.optional().meta({
    description:
      "Without a prompt, one of its movements and one of its moods serve as the prompt. Its edit is " +
      "applied to the video, except for a length, a shape or audio that this request sets itself. One " +
      "of its example captions becomes the `captionText` of the run's output",
  }),
  mode: z
    .enum(VIDEO_MODES)
    .optional()
    .meta({
      description:
        "When omitted: `lipsync` with `audio_url` and `image_url`, `extend` with `video_url`, " +
        "`first-last` with `image_url` and `end_image_url`, `animate` with `image_url`, else `prompt`",
    }),
  prompt: prompt.optional(),
  end_image_url: mediaUrl.optional().meta({ description: "The last frame; for `first-last` only" }),
  video_url: mediaUrl
    .optional()
    .meta({ description: "The video to continue, at most 8 s; for `extend` only" }),
  audio_url: mediaUrl.optional().meta({
    description:
      "What is sung or said, at most 60 s in 720p and 30 s in larger resolutions; for `lipsync` only",
  }),
  aspect_ratio: aspectRatio,
  duration: z
    .enum(DURATIONS)
    .optional()
    .meta({ description: "Default: `8s`; for `extend`, the added length, by default `7s`" }),
  resolution,
  negative_prompt: prompt.optional(),
  generate_audio: z.boolean().default(false),
  model: model
    .optional()
    .meta({ description: "A model of the provider. Default: chosen by the mode" }),
  artist_id: artistId,
});
export type VideoRequest = z.output<typeof videoBody>;

const standIn = {
  placeholder: standInOutput.placeholder.meta({
    description: "Present where no model has made it, but the renderer of this installation",
  }),
  notice: standInOutput.notice.meta({ description: "Why it is a placeholder" }),
};

/** The properties that both generations share. */
const generation = {
  ...shared,
  method: "POST",
  runCredential: true,
  words: "own",
  effect: "media",
  tool: true,
  description:
    "Media URLs must be https with a public address, or media of this service that belong to the " +
    "account. The generation is a task run of the account in `GET /api/tasks/runs`. It continues when the " +
    "client disconnects or the answer is 504; `location` is the URL of the run.",
  idempotent: true,
  artistAccess: { in: "body", field: "artist_id" },
  errors: [
    "budget_reached",
    "unpriced_model",
    "media_full",
    "too_many_generations",
    "not_found",
    "upstream_error",
    "upstream_timeout",
    "not_configured",
  ],
} as const;

export const createVideoContract = contract({
  ...generation,
  path: "/api/content/video",
  urls: ["image_url", "end_image_url", "video_url", "audio_url"],
  summary: "Generate a video",
  body: videoBody,
  responses: {
    200: {
      description: "The URL of the video, which anyone who knows it can read",
      headers: ["location"],
      schema: z.object({ videoUrl: z.url(), mode: z.enum(VIDEO_MODES), ...standIn }),
    },
  },
});

export const imageBody = z.object({
  template: template.optional().meta({
    description:
      "Its prompt and its reference images are used where the request has none. One of its example " +
      "captions becomes the `captionText` of the run's output",
  }),
  prompt: prompt.optional().meta({ description: "Required unless the template has one" }),
  reference_image_url: mediaUrl.optional(),
  images: z.array(mediaUrl).max(8).optional().meta({ description: "Further references" }),
  num_images: z.int().min(1).max(4).default(1),
  aspect_ratio: z.enum(IMAGE_ASPECT_RATIOS).default("auto").meta({
    description: "Stores take covers of `1:1` in `4k`, which has at least 3000 x 3000 pixels",
  }),
  resolution,
  model: model.optional(),
  artist_id: artistId,
});
export type ImageRequest = z.output<typeof imageBody>;

export const createImageContract = contract({
  ...generation,
  path: "/api/content/image",
  urls: ["reference_image_url", "images"],
  summary: "Generate images",
  body: imageBody,
  responses: {
    200: {
      description: "The URL of the first image, and the URLs of all images",
      headers: ["location"],
      schema: z.object({ imageUrl: z.url(), images: z.array(z.url()), ...standIn }),
    },
  },
});

/** In pixels, as a query has them. */
const THUMBNAIL_WIDTHS = ["160", "320", "640"] as const;

const mediaParams = z.object({
  accountId: z.string().describe("The account that owns the file"),
  name: z.string().describe("The name of the file"),
});

/** As large as the largest file that a generation takes. */
export const MAX_UPLOAD_BYTES = 64 * 1024 * 1024;

export const uploadMediaContract = contract({
  ...shared,
  method: "POST",
  path: "/api/media",
  summary: "Upload an image, a video or audio",
  description:
    "The raw body, at most 64 MiB, becomes a file whose URL the fields of `POST /api/content/image` and " +
    "`POST /api/content/video` take, and the picture of an artist. The first bytes decide about its type; " +
    "`content-type` is ignored. Anyone who knows the URL can read the file, until it is deleted.",
  byteBodyLimit: MAX_UPLOAD_BYTES,
  responses: {
    201: {
      description: "The file",
      schema: z.object({
        status: z.literal("success"),
        url: z.url(),
        content_type: z.enum(MEDIA_TYPES),
        bytes: z.int(),
      }),
    },
  },
  errors: ["invalid_request", "media_full"],
});

export const getMediaContract = contract({
  ...shared,
  auth: "none",
  method: "GET",
  path: "/api/media/{accountId}/{name}",
  runCredential: true,
  words: "own",
  summary: "Read a file",
  description:
    "The name contains 128 random bits and is the only key, so that players and other services can read " +
    "the file without a credential. A file never changes. Caches revalidate it on each use, so that a " +
    "deleted file is gone at once. Supports `range`, `if-range` and `if-none-match`.",
  params: mediaParams,
  query: z.object({
    width: z.enum(THUMBNAIL_WIDTHS).transform(Number).optional().meta({
      description:
        "An image as WebP of at most this width in pixels, whole and never enlarged. Videos ignore it",
    }),
  }),
  headers: z.object({
    range: z
      .string()
      .optional()
      .describe("A single byte range; a request for several is answered with the whole file"),
    "if-range": z.string().optional().describe("The `etag` for which `range` applies"),
    "if-none-match": z.string().optional().describe("The `etag` of the cached file"),
  }),
  responses: {
    200: { description: "The file", headers: ["accept-ranges", "etag"], bytes: MEDIA_TYPES },
    206: {
      description: "The requested range of the file",
      headers: ["accept-ranges", "content-range", "etag"],
      bytes: MEDIA_TYPES,
    },
    304: { description: "The cached file is still valid", headers: ["accept-ranges", "etag"] },
  },
  errors: ["not_found", "range_not_satisfiable"],
});

export const proxyImageContract = contract({
  ...shared,
  method: "GET",
  path: "/api/media/proxy",
  summary: "Read an image of the web",
  description:
    "Fetches an image for someone who must not reveal their address to its server, such as the reader of an " +
    "answer. PNG, JPEG, WebP and GIF by their content, at most 10 MiB; never SVG. Nothing of the caller is " +
    "sent along. The URL itself may carry data of who wrote it, so ask the reader before.",
  query: z.object({
    url: mediaUrl.meta({ description: "An https URL with a public address" }),
    width: z.enum(THUMBNAIL_WIDTHS).transform(Number).optional().meta({
      description: "A WebP of at most this width in pixels, never enlarged, and kept for an hour",
    }),
  }),
  responses: { 200: { description: "The image", bytes: IMAGE_TYPES } },
  errors: ["upstream_error", "upstream_timeout"],
});

export const deleteMediaContract = contract({
  ...shared,
  method: "DELETE",
  path: "/api/media/{accountId}/{name}",
  summary: "Delete a generated or uploaded file",
  description:
    "From then on its URL answers 404, and its bytes no longer count towards the account's quota. A " +
    "run that generated it still names it.",
  params: mediaParams,
  responses: successResponse("Deleted", {}),
  errors: ["not_found"],
});

export const apiTags = { Content: "Images and videos, and the templates that shape them." };
