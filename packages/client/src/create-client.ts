import createApi from "openapi-fetch";
import { type ConnectionOptions, createConnection } from "./connection.ts";
import { downloadFile, type FileAddress, type FileContent, uploadFile } from "./files.ts";
import type { paths } from "./generated/api.ts";
import { type RunOptions, run } from "./run.ts";
import { type ResumeOptions, resumeTurn, streamTurn, type TurnOptions } from "./stream-turn.ts";
import { type WaitOptions, waitForRun } from "./wait-for-run.ts";

export type Client = ReturnType<typeof createClient>;

/**
 * Creates a client of the service at `baseUrl`.
 * @throws TypeError for both an API key and a bearer token
 */
export function createClient(options: ConnectionOptions) {
  const { baseUrl } = options;
  const connection = createConnection(options);
  return {
    /**
     * Every endpoint, typed: `await client.api.GET("/api/sessions/{sessionId}", { params })` resolves
     * to `{ data }` or `{ error }`, with the `response`.
     */
    api: createApi<paths>({ baseUrl, fetch: connection.send }),
    /** See `streamTurn` (src/stream-turn.ts). */
    streamTurn: (turn: TurnOptions) => streamTurn(connection, turn),
    resumeTurn: (chat: ResumeOptions) => resumeTurn(connection, chat),
    /** See `run` (src/run.ts). */
    run: <Output = unknown>(options: RunOptions<Output>) => run(connection, options),
    waitForRun: <Output = unknown>(runId: string, wait?: WaitOptions) =>
      waitForRun<Output>(connection, runId, wait),
    uploadFile: (
      file: FileAddress & { readonly content: FileContent; readonly signal?: AbortSignal },
    ) => uploadFile(connection, baseUrl, file),
    downloadFile: (file: FileAddress & { readonly signal?: AbortSignal }) =>
      downloadFile(connection, baseUrl, file),
  };
}
