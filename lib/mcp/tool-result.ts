/** Makes the result of a tool from the response of its endpoint. */
import type { CallToolResult } from "@modelcontextprotocol/server";

/** Results go into the context of a model, to which more than this is of no use. */
const MAX_RESULT_BYTES = 1024 * 1024;

/** A result that is a text. */
export const textResult = (text: string, isError = false): CallToolResult => ({
  content: [{ type: "text", text }],
  isError,
});

/**
 * Resolves to the body as text, or as a resource when it is bytes. The error of an endpoint is a result
 * with `isError`. A turn that streams continues without its reader: the result is the id of its run.
 */
export async function toolResult(response: Response): Promise<CallToolResult> {
  const { status, headers } = response;
  const type = headers.get("content-type") ?? "";
  if (type.startsWith("text/event-stream")) {
    await response.body?.cancel();
    return textResult(JSON.stringify({ runId: headers.get("x-workflow-run-id") }));
  }
  const bytes = await readWithin(response);
  if (bytes === null) {
    return textResult(
      `The answer is larger than ${MAX_RESULT_BYTES} bytes: read it over HTTP`,
      true,
    );
  }
  if (type === "" || /^(?:text\/|application\/json)/.test(type)) {
    return textResult(bytes.toString("utf8"), status >= 400);
  }
  const resource = { uri: "response:body", mimeType: type, blob: bytes.toString("base64") };
  return { content: [{ type: "resource", resource }] };
}

async function readWithin(response: Response): Promise<Buffer | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    // Leaving the loop cancels the body.
    if (size > MAX_RESULT_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
