/** The OpenAPI document and its parts, made of two contracts. */

import { describe, expect, it } from "vitest";
import { z } from "zod";
import { contract } from "../src/contract/contract.ts";
import { createJudge } from "../src/judge-request.ts";
import { curl } from "../src/openapi/curl.ts";
import { inputsOf } from "../src/openapi/describe-inputs.ts";
import { describeApi } from "../src/openapi/document.ts";
import type { RecordedExchange } from "../src/openapi/examples.ts";
import { type Operation, operationsIn } from "../src/openapi/operation.ts";

const song = z.object({ id: z.guid(), title: z.string() });

const readSongContract = contract({
  method: "GET",
  path: "/api/songs/{id}",
  summary: "Read a song",
  tag: "Songs",
  family: "error",
  auth: "optional",
  params: z.object({ id: z.guid() }),
  query: z.object({ limit: z.string().optional().describe("Lines of its text") }),
  responses: { 200: { description: "The song", headers: ["etag"], schema: song } },
  errors: ["not_found"],
});
const renameSongContract = contract({
  method: "PATCH",
  path: "/api/songs/{id}",
  summary: "Rename a song",
  tag: "Songs",
  family: "missing",
  auth: "required",
  effect: "write",
  runCredential: { only: "for its own songs", allows: () => true },
  words: "own",
  params: z.object({ id: z.guid() }),
  body: z.object({ title: z.string(), tag: z.string().optional() }),
  strictBody: true,
  idempotent: true,
  responses: { 200: { description: "The song", schema: song } },
  errors: [],
});

const ID = "3f333df6-90a4-4fda-8dd3-9485d27cee36";
const renamed: RecordedExchange = {
  request: { params: { id: ID }, body: { title: "O'Connor" } },
  response: { status: 200, headers: {}, body: { id: ID, title: "O'Connor" } },
};
const operations = operationsIn([{ song, readSongContract }, { renameSongContract }]);
const document = describeApi({ info: { title: "Songs", version: "1" } }, operations, {
  renameSong: { success: renamed },
});
const { get, patch } = document.paths?.["/api/songs/{id}"] ?? {};

it("leaves out exports that are not contracts", () => {
  expect(operations.map(({ id }: Operation) => id)).toEqual(["readSong", "renameSong"]);
});

describe("an operation", () => {
  it("names the credentials that it takes", () => {
    expect(get?.security).toEqual([{}, { apiKey: [] }, { bearer: [] }]);
    expect(patch?.security).toEqual([{ apiKey: [] }, { bearer: [] }]);
    expect(patch?.description).toBe("The credential of a run may call it for its own songs.");
  });

  it("has the responses of its contract and the errors that follow from it", () => {
    expect(Object.keys(get?.responses ?? {})).toEqual(
      expect.arrayContaining(["200", "400", "401", "404", "429", "503"]),
    );
    expect(Object.keys(patch?.responses ?? {})).toEqual(
      expect.arrayContaining(["200", "409", "413", "415", "422"]),
    );
    expect(patch?.responses).toMatchObject({
      409: {
        description: "`idempotency_in_progress`",
        content: { "application/json": { schema: { $ref: "#/components/schemas/FieldsError" } } },
      },
    });
  });

  it("shows the recorded bodies, and the recorded parameters", () => {
    const success = { success: { value: renamed.response.body } };
    expect(patch).toMatchObject({
      requestBody: {
        content: { "application/json": { examples: { success: { value: renamed.request.body } } } },
      },
      responses: { 200: { content: { "application/json": { examples: success } } } },
      parameters: expect.arrayContaining([expect.objectContaining({ name: "id", example: ID })]),
    });
  });

  it("has one schema of its parameters and its body", () => {
    const [read, rename] = operations.map(inputsOf(operations));
    expect(read).toMatchObject({
      properties: { limit: { type: "string", description: "Lines of its text" } },
      required: ["id"],
    });
    expect(rename?.required).toEqual(["id", "title"]);
    expect(Object.keys(rename?.properties ?? {})).toEqual(["id", "title", "tag"]);
  });
});

it("quotes a recorded request for a shell", () => {
  expect(curl(renameSongContract, renamed.request, "https://api.example.com")).toBe(
    `curl -X PATCH https://api.example.com/api/songs/${ID} -H "$K" -d '{"title":"O'\\''Connor"}'`,
  );
});

describe("the judgment of a request", () => {
  const judge = createJudge(operations.map(({ contract }) => contract));
  const at = (path: string) => new URL(path, "https://api.example.com");
  const noStorage = () => false;

  it("finds the contract, the parameters and the effects", () => {
    const url = at(`/api/%73ongs/${ID}`);
    expect(judge("PATCH", url, '{"title":"New"}', noStorage)).toMatchObject({
      contract: renameSongContract,
      url: at(`/api/songs/${ID}`),
      params: { id: ID },
      body: { title: "New" },
      effects: { categories: ["write"], hosts: [] },
    });
    expect(judge("HEAD", url, undefined, noStorage)?.contract).toBe(readSongContract);
  });

  it.each([
    ["DELETE", `/api/songs/${ID}`],
    ["GET", `/api//songs/${ID}`],
    ["GET", `/api/songs/${ID}/`],
    ["GET", "/api/songs/a%2fb"],
  ])("finds no operation like %s %s", (method, path) => {
    expect(judge(method, at(path), undefined, noStorage)).toBeNull();
  });
});
