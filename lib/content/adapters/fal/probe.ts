import { requestJson } from "../../../platform/outbound/fetch-json.ts";
import {
  accepted,
  describeAnswer,
  type Probe,
  probeJson,
} from "../../../platform/outbound/probe.ts";
import { initiateUpload } from "./upload.ts";

const credentials = ["FAL_KEY"];
const ofStorage = { credentials, address: ["FAL_STORAGE_URL"] };
const ofQueue = { credentials, address: ["FAL_BASE_URL"] };

/** A request that does not exist, of a model that does. */
const NO_REQUEST = "fal-ai/nano-banana-2/requests/00000000-0000-4000-8000-000000000000/status";

/** Asks for an upload URL that stays unused, and for a request that does not exist. Both are free. */
export async function probeFal(
  { key, storageUrl, baseUrl }: Readonly<Record<"key" | "storageUrl" | "baseUrl", string>>,
  deadline: AbortSignal,
): Promise<Probe[]> {
  const { url, question } = initiateUpload({ key, storageUrl }, "image/png", deadline);
  return Promise.all([
    probeJson(url, question, ofStorage),
    probeQueue(new URL(`${baseUrl.replace(/\/+$/, "")}/${NO_REQUEST}`), key, deadline),
  ]);
}

async function probeQueue(url: URL, key: string, deadline: AbortSignal): Promise<Probe> {
  const headers = { authorization: `Key ${key}` };
  const answer = await requestJson(url, { vendor: "fal", headers, deadline });
  const isExpected =
    answer.kind === "refused" &&
    [400, 404, 422].includes(answer.status) &&
    typeof answer.body === "object" &&
    answer.body !== null &&
    "detail" in answer.body;
  return isExpected ? accepted(url, ofQueue) : describeAnswer(url, answer, ofQueue);
}
