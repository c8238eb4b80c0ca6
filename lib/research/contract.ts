/** The endpoint of artist research. */

import { contract, successResponse } from "@platform/endpoint/contract/contract";
import { z } from "zod";

const track = z.object({
  title: z.string(),
  avatar: z.string().describe("URL of an image; empty when there is none"),
  release_date: z.string(),
  site_url: z.string(),
  isrcs: z.array(z.string()),
  artists: z.array(z.object({ name: z.string() })),
});
export type ResearchTrack = z.output<typeof track>;

export const listTracksContract = contract({
  method: "GET",
  path: "/api/research/tracks",
  runCredential: true,
  words: () => [{ kind: "search", name: "research" }],
  tool: true,
  summary: "List all tracks of an artist",
  description:
    "`id` takes precedence over `artist`; one of the two is required. Without a credential, a stricter rate limit applies.",
  tag: "Research",
  family: "error",
  auth: "optional",
  query: z
    .object({
      artist: z.string().trim().max(250).optional().describe("The artist's name"),
      id: z
        .string()
        .max(250)
        .regex(/^[A-Za-z0-9][A-Za-z0-9._:-]*$/)
        .optional()
        .describe("The provider's identifier of the artist"),
    })
    .refine(({ artist, id }) => id !== undefined || (artist ?? "") !== "", {
      error: "Missing required parameter: artist",
      path: ["artist"],
    }),
  responses: successResponse("The tracks, most popular first if the provider ranks them", {
    source: z.string().optional().meta({
      description: "Present where it is not a vendor that was asked: what it was",
    }),
    tracks: z.array(track),
  }),
  errors: ["not_found", "not_implemented", "upstream_error", "upstream_timeout"],
});

export const apiTags = { Research: "All tracks of an artist." };
