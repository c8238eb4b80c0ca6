/** Content creation. Specification: Content template, POST /api/content/video; decisions, section 10. */
import { z } from "zod";
import { contract } from "../contract/contract.ts";
import { ASPECT_RATIOS, RESOLUTIONS, VIDEO_MODES } from "./port.ts";
import { MEDIA_TYPES } from "./storage/media-name.ts";
import { contentTemplate, templateSummary } from "./template.ts";

const shared = { tag: "Content", family: "plain", auth: "required" } as const;

export const listContentTemplatesContract = contract({
  ...shared,
  method: "GET",
  path: "/api/content/templates",
  runCredential: true,
  summary: "List content templates",
  description: "Their ids go into `template` of images and videos.",
  responses: {
    200: {
      description: "All of them",
      schema: z.object({ status: z.literal("success"), templates: z.array(templateSummary) }),
    },
  },
  errors: [],
});

export const getContentTemplateContract = contract({
  ...shared,
  method: "GET",
  path: "/api/content/templates/{id}",
  runCredential: true,
  summary: "Read a content template",
  params: z.object({ id: z.string().describe("The template's `id`") }),
  responses: { 200: { description: "The full configuration", schema: contentTemplate } },
  errors: ["not_found"],
});

const mediaUrl = z.url().max(2048);
const prompt = z.string().trim().max(10_000);
/** As providers name them: words with slashes in between, nothing that changes a path. */
const model = z
  .string()
  .max(200)
  .regex(/^[A-Za-z0-9][\w.-]*(\/[A-Za-z0-9][\w.-]*)*$/);
const aspectRatio = z.enum(ASPECT_RATIOS).default("auto");
const resolution = z.enum(RESOLUTIONS).default("720p");
const template = z.string().min(1).max(100);

const DURATIONS = ["4s", "6s", "7s", "8s"] as const;

const videoBody = z.object({
  image_url: mediaUrl.optional().meta({
    description: "The input frame; of `lipsync` the face. Every mode but `extend` needs one",
  }),
  template: template.optional().meta({
    description:
      "One of its movements and one of its moods are the prompt when there is none. Its edit is applied " +
      "to the video, where this request does not name a length, a shape or audio itself; one of its " +
      "example captions is the `captionText` of the run's output",
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
  end_image_url: mediaUrl.optional().meta({ description: "The last frame; of `first-last` only" }),
  video_url: mediaUrl
    .optional()
    .meta({ description: "The video to continue, at most 8 s; of `extend` only" }),
  audio_url: mediaUrl
    .optional()
    .meta({ description: "What is sung or said, at most 60 s; of `lipsync` only" }),
  aspect_ratio: aspectRatio,
  duration: z
    .enum(DURATIONS)
    .optional()
    .meta({ description: "Default `8s`, of `extend` `7s`: how much is added" }),
  resolution,
  negative_prompt: prompt.optional(),
  generate_audio: z.boolean().default(false),
  model: model.optional().meta({ description: "Of the provider; by the mode when omitted" }),
});
export type VideoRequest = z.output<typeof videoBody>;

const mediaUrls =
  "URLs of media must be https with a public address, or of this service's own media, and then the " +
  "caller's. ";
const taskRun =
  "The work is a task run of the account, in `GET /api/tasks/runs`, which goes on when the client " +
  "goes away or the answer is 504; `location` names it.";

export const createVideoContract = contract({
  ...shared,
  method: "POST",
  path: "/api/content/video",
  runCredential: true,
  summary: "Generate a video",
  description: mediaUrls + taskRun,
  idempotent: true,
  body: videoBody,
  responses: {
    200: {
      description: "Where the video is, for everybody who knows the URL",
      headers: ["location"],
      schema: z.object({ videoUrl: z.url(), mode: z.enum(VIDEO_MODES) }),
    },
  },
  errors: ["quota_exceeded", "not_found", "upstream_error", "upstream_timeout"],
});

const imageBody = z.object({
  template: template.optional().meta({
    description:
      "Its prompt and reference images count where the request has none; one of its example captions " +
      "is the `captionText` of the run's output",
  }),
  prompt: prompt.optional().meta({ description: "Needed unless a template has one" }),
  reference_image_url: mediaUrl.optional(),
  images: z.array(mediaUrl).max(8).optional().meta({ description: "Further references" }),
  num_images: z.int().min(1).max(4).default(1),
  aspect_ratio: aspectRatio,
  resolution,
  model: model.optional(),
});
export type ImageRequest = z.output<typeof imageBody>;

export const createImageContract = contract({
  ...shared,
  method: "POST",
  path: "/api/content/image",
  runCredential: true,
  summary: "Generate images",
  description: mediaUrls + taskRun,
  idempotent: true,
  body: imageBody,
  responses: {
    200: {
      description: "The first image, and all of them",
      headers: ["location"],
      schema: z.object({ imageUrl: z.url(), images: z.array(z.url()) }),
    },
  },
  errors: ["quota_exceeded", "not_found", "upstream_error", "upstream_timeout"],
});

const mediaParams = z.object({
  accountId: z.string().describe("Whose it is"),
  name: z.string().describe("The file's name"),
});

export const getMediaContract = contract({
  method: "GET",
  path: "/api/media/{accountId}/{name}",
  runCredential: true,
  summary: "Read a generated file",
  description:
    "The name is 128 random bits and the only key: players and other services read the file " +
    "without a credential. A file never changes, and is gone at once when it is deleted: caches keep it " +
    "and ask again each time. Takes `range`, `if-range` and `if-none-match`.",
  tag: "Content",
  family: "plain",
  auth: "none",
  params: mediaParams,
  headers: z.object({
    range: z.string().optional().describe("One range of bytes; several are ignored"),
    "if-range": z.string().optional().describe("The `etag` for which `range` holds"),
    "if-none-match": z.string().optional().describe("The `etag` that the caller has"),
  }),
  responses: {
    200: { description: "The file", headers: ["accept-ranges", "etag"], bytes: MEDIA_TYPES },
    206: {
      description: "The range of it that was asked for",
      headers: ["accept-ranges", "content-range", "etag"],
      bytes: MEDIA_TYPES,
    },
    304: { description: "The caller has it already", headers: ["accept-ranges", "etag"] },
  },
  errors: ["not_found", "range_not_satisfiable"],
});

export const deleteMediaContract = contract({
  method: "DELETE",
  path: "/api/media/{accountId}/{name}",
  summary: "Delete a generated file",
  description:
    "Its URL answers 404 from then on, and its bytes no longer count for the account. The run that " +
    "made it still names it.",
  tag: "Content",
  family: "plain",
  auth: "required",
  params: mediaParams,
  responses: {
    200: { description: "Deleted", schema: z.object({ status: z.literal("success") }) },
  },
  errors: ["not_found"],
});
