import {
  chatFields,
  connectorsNote,
  json,
  runBody,
  type Scenario,
  type Target,
} from "./scenario.ts";

/** Returns a script for a POSIX shell. It reads ids of answers with jq. */
export function curlSnippet(scenario: Scenario, { baseUrl, apiKey }: Target): string {
  const header =
    apiKey === null ? '"x-api-key: $AGENT_PLATFORM_API_KEY"' : quote(`x-api-key: ${apiKey}`);
  const call = (flags: string, path: string) => `curl ${flags} "${baseUrl}${path}" -H ${header}`;
  const body = (value: unknown) => ` \\\n  -d ${quote(json(value))}`;
  if (scenario.kind === "run") {
    return lines(
      `RUN=$(${call("-s", "/api/chat/runs")}${body(runBody(scenario))} | jq -r .runId)`,
      call("-s", "/api/chat/runs/$RUN"),
    );
  }
  const { chat, message, setup, contextLimit } = scenario;
  const fields = chatFields(setup);
  const turn = {
    sessionId: chat?.sessionId ?? variable("SESSION"),
    chatId: chat?.chatId ?? variable("CHAT"),
    messages: [{ id: variable("ID"), content: message }],
    ...(contextLimit !== null && { context: { contextLimit } }),
  };
  const { connectors } = setup;
  const note = connectorsNote(scenario);
  const session = { sessionId: turn.sessionId };
  return lines(
    ...(chat === null
      ? [
          `CREATED=$(${call("-s", "/api/sessions")} -d '{}')`,
          'SESSION=$(echo "$CREATED" | jq -r .session.id)',
          'CHAT=$(echo "$CREATED" | jq -r .chat.id)',
          ...(fields === null
            ? []
            : [`${call("-s -X PATCH", "/api/sessions/$SESSION/chats/$CHAT")}${body(fields)}`]),
          ...(connectors.length === 0
            ? []
            : [
                `${call("-s -X PUT", "/api/sessions/$SESSION/chats/$CHAT/connectors")}${body({ connectors })}`,
              ]),
        ]
      : []),
    ...(note === null ? [] : [`# ${note}`]),
    "ID=$(date +%s)",
    `${call("-s", "/api/sandbox")}${withVariables(body(session))}`,
    `${call("-N", "/api/chat")}${withVariables(body(turn))}`,
  );
}

const lines = (...commands: readonly string[]): string => `${commands.join("\n")}\n`;

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Stands for a variable of the shell; the mark is in no text that a person writes. */
const variable = (name: string): string => `\uE000${name}`;

/** Lets the shell put its variables into a quoted body. */
const withVariables = (body: string): string => body.replace(/\uE000(\w+)/g, `'"$$$1"'`);
