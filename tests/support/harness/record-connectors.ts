import { redirectIn } from "./connections.ts";
import { decide, openConsent } from "./consent.ts";
import type { Context } from "./example-recorder.ts";

export async function recordConnectors({ record, caller }: Context): Promise<void> {
  await record("createConnection", { body: { connector: "gmail" } });
  await record("listConnections");
  const answer = await caller.post("/api/connectors", { connector: "slack" });
  await decide(await openConsent(redirectIn(answer)), "allow");
  const params = { connector: "slack" };
  await record("listActions", { params });
  const action = { ...params, action: "DESCRIBE_CONNECTION" };
  await record("runAction", { params: action, body: { input: {} } });
  await record("listConnectorEvents", { params });
  await record("removeConnections", { params });
}
