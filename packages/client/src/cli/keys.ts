import { type Command, required, take, text } from "./command.ts";
import { columns } from "./output.ts";
import { UsageError } from "./usage-error.ts";

export const keys: Command = {
  usage: ["keys list", "keys create [--days N] NAME", "keys revoke ID"],
  about: "API keys of the account. A new key is printed once.",
  options: { days: { type: "string" } },
  async run({ args, client, options, out, signal }) {
    const [action, argument] = args;
    if (action === "list") {
      const listed = await take(client.api.GET("/api/keys", { signal }));
      out.result(listed, ({ keys: all }) =>
        columns(all.map((key) => [key.id, key.prefix, key.last_used_at ?? "never", key.key_name])),
      );
      return 0;
    }
    if (action === "create") {
      const days = text(options.days);
      const body = {
        key_name: required(argument, "NAME"),
        ...(days === undefined ? {} : { expires_in_days: Number(days) }),
      };
      const made = await take(client.api.POST("/api/keys", { body, signal }));
      out.result(made, ({ key }) => key);
      return 0;
    }
    if (action === "revoke") {
      const id = required(argument, "ID");
      const path = { id };
      const done = await take(client.api.DELETE("/api/keys/{id}", { params: { path }, signal }));
      out.result(done, () => `Revoked ${id}`);
      return 0;
    }
    throw new UsageError("keys takes list, create or revoke");
  },
};
