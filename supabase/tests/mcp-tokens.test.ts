/** A refresh of tokens in flight, while the account changes how its server is connected. */
import { expect, test } from "vitest";
import { createMcpServer, noRows } from "./rows.ts";
import { rolledBack, type Transaction } from "./transaction.ts";

/** Leases the tokens `sealed`, lets the account change them, and stores refreshed ones. */
async function refreshWhile(
  transaction: Transaction,
  changed: string | null,
  stored: string | null,
) {
  const account_id = await transaction.account();
  const rows = noRows();
  await createMcpServer(transaction, account_id, rows);
  const server = { account_id, id: rows.mcpServer };
  expect(await transaction.call("lease_mcp_tokens", { ...server, secret: "sealed" })).toEqual({
    outcome: "leased",
  });
  await transaction.sql`update mcp_servers set secret = ${changed} where id = ${rows.mcpServer}`;
  const url = "https://mcp.example.com/";
  await transaction.call("store_mcp_tokens", { ...server, url, secret: stored, leased: "sealed" });
  const [row] = await transaction.sql`select secret from mcp_servers where id = ${rows.mcpServer}`;
  return row?.secret;
}

test.each([
  ["replaces the tokens that it was for", "sealed", "refreshed", "refreshed"],
  ["drops those that the server has refused", "sealed", null, null],
  ["does not undo a disconnection", null, "refreshed", null],
  ["does not replace another identity", "of another person", "refreshed", "of another person"],
  ["does not erase new tokens", "new", null, "new"],
])("a refresh %s", async (_, changed, stored, left) => {
  await rolledBack(async (transaction) => {
    expect(await refreshWhile(transaction, changed, stored)).toBe(left);
  });
});
