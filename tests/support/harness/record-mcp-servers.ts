/** Records the examples of MCP servers. */
import { z } from "zod";
import { startFakeMcp, toolNamed } from "../fakes/mcp.ts";
import { approve } from "../fakes/mcp-oauth.ts";
import type { Placeholders } from "../fixtures/placeholders.ts";
import { type Context, withId } from "./example-recorder.ts";

const one = z.object({
  server: withId.extend({ tools: z.array(z.object({ name: z.string(), sha256: z.string() })) }),
});

export async function recordMcpServers(
  { record, caller }: Context,
  placeholders: Placeholders,
): Promise<void> {
  const fake = await startFakeMcp();
  placeholders.replaceText(fake.origin, "https://charts.example.com");
  fake.state.tools = [toolNamed("get_track", "Read a track by its ISRC")];
  const body = {
    name: "charts",
    url: `${fake.origin}/mcp`,
    auth: { type: "headers", headers: { authorization: "Bearer your-token" } },
  };
  const { server } = await record("createMcpServer", { body }, { schema: one });
  const params = { id: server.id };
  await record("listMcpServers");
  await record("getMcpServer", { params });
  await record("refreshMcpServer", { params });
  const tools = server.tools.map(({ name, sha256 }) => ({ name, sha256 }));
  await record("confirmMcpTools", { params, body: { tools } });
  await record("updateMcpServer", { params, body: { enabled: false } });
  await record("deleteMcpServer", { params });
  await record("mcpClientMetadata");
  const signIn = { name: "playlists", url: `${fake.origin}/oauth/mcp`, auth: { type: "oauth" } };
  const added = one.parse((await caller.post("/api/mcp-servers", signIn)).body);
  const started = await record(
    "authorizeMcpServer",
    { params: { id: added.server.id } },
    {
      schema: z.object({ url: z.string() }),
      shorten: () => ({ status: "success", url: "https://charts.example.com/as/authorize?…" }),
    },
  );
  const back = approve(fake.state, started.url);
  placeholders.replaceText(back.state, "the-state");
  placeholders.replaceText(back.code, "the-code");
  await record("finishMcpAuthorization", { body: back });
  await fake.close();
}
