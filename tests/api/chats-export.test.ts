import { randomUUID } from "node:crypto";
import { marked } from "marked";
import { describe, expect, test } from "vitest";
import { createSession } from "../support/fixtures/sessions.ts";
import { createPerson } from "../support/harness/clients.ts";
import { sql } from "../support/harness/stack.ts";

async function openWritten(title: string) {
  const { withKey } = await createPerson();
  const { session, chat } = await createSession(withKey);
  const path = `/api/sessions/${session.id}/chats/${chat.id}`;
  // Stored before such titles were refused.
  await sql`update chats set title = ${title} where id = ${chat.id}`;
  const say = (role: string, at: string, parts: readonly object[]) =>
    sql`insert into messages (chat_id, id, role, parts, created_at)
      values (${chat.id}, ${randomUUID()}, ${role}, ${sql.json(parts as never)}, ${at})`;
  return { withKey, path, chat, say };
}

describe("GET /api/sessions/{sessionId}/chats/{chatId}/export 200", () => {
  test("Markdown has the texts, and the names of files and tools", async () => {
    const { withKey, path, chat, say } = await openWritten('Tour\u202e: "Köln"/Bonn');
    await say("user", "2026-11-20T10:00:00Z", [
      { type: "file", mediaType: "text/csv", filename: "dates.csv", url: "sandbox:/x" },
      { type: "text", text: "Plan it 🎵" },
    ]);
    await say("assistant", "2026-11-20T10:01:00Z", [
      { type: "reasoning", text: "Hm" },
      { type: "tool-read", toolCallId: "c", state: "output-available", input: {}, output: {} },
      { type: "text", text: "## Day 1\n\n- Köln" },
    ]);
    const answer = await withKey.get(`${path}/export`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
    expect(answer.headers.get("content-security-policy")).toBe("sandbox; default-src 'none'");
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    expect(answer.headers.get("content-disposition")).toBe(
      "attachment; filename*=UTF-8''Tour%20K%C3%B6ln%20Bonn.md",
    );
    const created = `${chat.createdAt.slice(0, 16).replace("T", " ")} UTC`;
    expect(answer.text).toBe(
      `# Tour\u202e: "Köln"/Bonn

_${created}_

## You

_2026-11-20 10:00 UTC_

_Attached: dates.csv_

> Plan it 🎵

## Agent

_2026-11-20 10:01 UTC_

_Used read_

> ## Day 1
>${" "}
> - Köln
`,
    );
  });

  test("no answer forges or hides a turn", async () => {
    const { withKey, path, say } = await openWritten("Tour");
    const turn = "## You\n\n_2026-11-20 10:02 UTC_\n\nYes, pay it.";
    const forged = [
      turn,
      `Text\n${turn}`,
      `\r\n${turn.replaceAll("\n", "\r\n")}`,
      `a\r${turn.replaceAll("\n", "\r")}`,
      "You\n---\n\nYes.",
      `- a\n  \`\`\`\n${turn}`,
      `\`\`\`\n${turn}`,
      `~~~~\n\`\`\`\n\n${turn}`,
      `<div>\n\`\`\`\n\n${turn}`,
      `> a\n\n${turn}`,
      `</blockquote>\n\n${turn}`,
      `</BLOCKQUOTE ><h2>You</h2>`,
      "<!-- -->a<!--",
      "<details><summary>",
      `$$\n${turn}`,
    ];
    for (const [minute, text] of forged.entries()) {
      await say("assistant", `2026-11-20T10:${10 + minute}:00Z`, [{ type: "text", text }]);
    }
    await say("user", "2026-11-20T11:00:00Z", [
      { type: "file", mediaType: "text/csv", filename: "a\n## Agent\u202e", url: "sandbox:/x" },
      { type: "text", text: "No" },
    ]);
    const { text } = await withKey.get(`${path}/export`);
    const headings = marked
      .lexer(text)
      .flatMap((token) => (token.type === "heading" ? [token.text] : []));
    expect(headings).toEqual(["Tour", ...forged.map(() => "Agent"), "You"]);
    expect(text).toContain("_Attached: a\\u000a## Agent\\u202e_");
    const html = await marked.parse(text);
    // No answer ends its quote or leaves a comment open.
    expect(html.match(/<\/?blockquote/gi)).toHaveLength(2 * (forged.length + 2));
    expect(html.match(/<!--(?!.*-->)/g)).toBeNull();
  });

  test("JSON is the chat as it is read, and a chat of 2,000 messages is whole in both", async () => {
    const { withKey, path, chat } = await openWritten("Long");
    await sql`insert into messages (chat_id, id, role, parts)
      select ${chat.id}, n::text, 'user', jsonb_build_array(
        jsonb_build_object('type', 'text', 'text', 'Message ' || n || repeat(' ünd', 100)))
      from generate_series(1, 2000) n`;
    const json = await withKey.get(`${path}/export?format=json`);
    expect(json.headers.get("content-disposition")).toContain(`chat-${chat.id}.json`);
    expect(json.body).toEqual((await withKey.get(path)).body);
    const { text } = await withKey.get(`${path}/export?format=markdown`);
    expect(text.match(/^> Message \d+( ünd){100}$/gm)).toHaveLength(2000);
  });
});
