/**
 * Rejections of vendors' chat completions APIs, by their published rules. `common` are the rules
 * that hold for all of them together, without the fields that only some know; each other profile
 * adds the rules of one vendor.
 */
import { HttpResponse } from "msw";
import sharp from "sharp";
import type { ChatMessage, CompletionBody } from "./openai.ts";

export const PROFILES = [
  "common",
  "openai",
  "groq",
  "cerebras",
  "mistral",
  "deepseek",
  "moonshot",
  "vllm",
  "gemini",
  "anthropic",
] as const;
export type Profile = (typeof PROFILES)[number];

/** The model `fake-groq` follows the rules of Groq, and so on. */
export const profileOf = (model: string): Profile =>
  PROFILES.find((profile) => model === `fake-${profile}`) ?? "common";

/** The field in which a vendor sends reasoning. */
export const reasoningFieldOf = (profile: Profile) =>
  ["groq", "cerebras", "vllm"].includes(profile) ? "reasoning" : "reasoning_content";

interface Violation {
  readonly status: number;
  readonly body: object;
}
type Message = ChatMessage & Readonly<Record<string, unknown>>;

const openAiError = (message: string, status = 400, fields: object = {}): Violation => ({
  status,
  body: { error: { message, type: "invalid_request_error", ...fields } },
});

/** Returns the refusal of a request, or undefined for an acceptable one. */
export async function refusalOf(
  body: CompletionBody,
  profile: Profile,
): Promise<Response | undefined> {
  const violation =
    fieldViolation(body as unknown as Record<string, unknown>, profile) ??
    (await structureViolation(body, profile));
  return violation && HttpResponse.json(violation.body, { status: violation.status });
}

/** Returns the first rule of all vendors that a request breaks. */
export async function structureViolation(
  { messages, tools = [] }: Pick<CompletionBody, "messages" | "tools">,
  profile: Profile = "common",
): Promise<Violation | undefined> {
  const problem =
    wellFormedProblem({ messages, tools }) ??
    toolsProblem(tools) ??
    orderProblem(messages as Message[], profile) ??
    callsProblem(messages as Message[], profile);
  if (problem) return openAiError(problem);
  for (const [index, message] of messages.entries()) {
    const wrong = await contentProblem(message, profile);
    if (wrong) return openAiError(`messages.${index}: ${wrong}`);
  }
  return undefined;
}

function fieldViolation(body: Record<string, unknown>, profile: Profile): Violation | undefined {
  const messages = body.messages as Message[];
  const having = (field: string) => messages.findIndex((message) => field in message);
  const extra = (loc: readonly (string | number)[]): Violation => ({
    status: 422,
    body: {
      object: "error",
      message: {
        detail: [
          { type: "extra_forbidden", loc, msg: "Extra inputs are not permitted", input: "…" },
        ],
      },
      type: "invalid_request_error",
    },
  });
  switch (profile) {
    case "openai": {
      if (!("max_tokens" in body)) return undefined;
      const said =
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
      return openAiError(said, 400, { param: "max_tokens", code: "unsupported_parameter" });
    }
    case "groq": {
      const at = having("reasoning_content");
      if (at < 0) return undefined;
      return openAiError(
        `'messages.${at}' : for 'role:assistant' the following must be satisfied[('messages.${at}' : property 'reasoning_content' is unsupported)]`,
      );
    }
    case "cerebras": {
      const at = having("reasoning_content");
      if (at < 0) return undefined;
      const said = `body.messages.${at}.assistant.reasoning_content: property 'body.messages.${at}.assistant.reasoning_content' is unsupported`;
      return {
        status: 400,
        body: { message: said, type: "invalid_request_error", code: "wrong_api_format" },
      };
    }
    case "mistral": {
      if ("stream_options" in body) return extra(["body", "stream_options"]);
      for (const field of ["reasoning_content", "reasoning"]) {
        const at = having(field);
        if (at >= 0) return extra(["body", "messages", at, "assistant", field]);
      }
      return undefined;
    }
    case "deepseek":
    case "moonshot": {
      const at = messages.findIndex((message) => message.tool_calls && !message.reasoning_content);
      if (at < 0) return undefined;
      return openAiError(
        profile === "deepseek"
          ? "The `reasoning_content` in the thinking mode must be passed back to the API."
          : `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${at}`,
      );
    }
    default:
      return undefined;
  }
}

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

function wellFormedProblem(value: unknown): string | undefined {
  let problem: string | undefined;
  JSON.stringify(value, (key, each: unknown) => {
    if (!key.isWellFormed() || (typeof each === "string" && !each.isWellFormed())) {
      problem = "The request is not valid UTF-8: surrogates not allowed";
    }
    return each;
  });
  return problem;
}

function toolsProblem(tools: NonNullable<CompletionBody["tools"]>): string | undefined {
  const names = tools.map((tool) => tool.function.name);
  const wrong = names.find((name) => !NAME.test(name));
  if (wrong !== undefined) return `Invalid 'tools[].function.name': '${wrong}'`;
  return new Set(names).size < names.length ? "Tool names must be unique" : undefined;
}

function orderProblem(messages: readonly Message[], profile: Profile): string | undefined {
  const dialog = messages.filter(({ role }) => role !== "system");
  if (messages.findLastIndex(({ role }) => role === "system") > 0) {
    return "The system message must be at the beginning";
  }
  if (dialog[0]?.role !== "user") return "The first message must have the role user";
  const last = dialog.at(-1)?.role;
  if (last === "assistant") return "Expected last role User or Tool but got assistant";
  for (const [index, { role }] of dialog.entries()) {
    const before = dialog[index - 1]?.role;
    if (role !== "tool" && role === before) {
      return "Conversation roles must alternate user/assistant/user/assistant/...";
    }
    if (profile === "mistral" && before === "tool" && role === "user") {
      return "Unexpected role 'user' after role 'tool'";
    }
  }
  return undefined;
}

function callsProblem(messages: readonly Message[], profile: Profile): string | undefined {
  const ids = new Set<string>();
  let open: string[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role === "tool") {
      const id = String(message.tool_call_id);
      if (!open.includes(id)) return `messages.${index}: unexpected tool_call_id ${id}`;
      open = open.filter((each) => each !== id);
      continue;
    }
    if (open.length > 0) return `tool_call_ids did not have response messages: ${open.join(", ")}`;
    if (!("tool_calls" in message)) continue;
    const calls = message.tool_calls as {
      id: string;
      function: { name: string; arguments: string };
    }[];
    if (message.role !== "assistant" || calls.length === 0) return "tool_calls must not be empty";
    for (const call of calls) {
      const { name } = call.function;
      if (!NAME.test(name)) return `Invalid 'messages[${index}].tool_calls[].function.name'`;
      if (profile === "gemini" && !/^[a-z_]/i.test(name)) return `Invalid function name: ${name}`;
      if (!NAME.test(call.id)) return `Invalid 'messages[${index}].tool_calls[].id'`;
      if (profile === "mistral" && !/^[a-zA-Z0-9]{9}$/.test(call.id)) {
        return `Tool call id was ${call.id} but must be a-z, A-Z, 0-9, with a length of 9.`;
      }
      if (ids.has(call.id)) return `Tool call ids must be unique: ${call.id}`;
      ids.add(call.id);
      open.push(call.id);
      const input = parse(call.function.arguments);
      if (typeof input !== "object" || input === null || Array.isArray(input)) {
        return `messages.${index}: tool_use.input: Input should be a valid dictionary`;
      }
    }
  }
  return open.length > 0
    ? `tool_call_ids did not have response messages: ${open.join(", ")}`
    : undefined;
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

async function contentProblem(message: ChatMessage, profile: Profile): Promise<string | undefined> {
  const { role, content } = message;
  if (role === "assistant" && message.tool_calls && content === null) return undefined;
  if (typeof content === "string")
    return content.trim() === "" ? "text must be non-empty" : undefined;
  if (role !== "user") return "content must be a string";
  if (!Array.isArray(content) || content.length === 0) return "content must not be empty";
  const isTextOnly = content.every(({ type }) => type === "text");
  if (isTextOnly) return "invalid type: sequence, expected a string";
  for (const part of content) {
    switch (part.type) {
      case "text":
        if (part.text.trim() === "") return "text content blocks must be non-empty";
        break;
      case "image_url": {
        if (profile === "deepseek") return "unknown variant `image_url`, expected `text`";
        const [, type, data = ""] = /^data:([^;]+);base64,(.*)$/.exec(part.image_url.url) ?? [];
        const bytes = Buffer.from(data, "base64");
        if (bytes.length === 0) return "Could not process image";
        const found = await sharp(bytes, { failOn: "error" })
          .stats()
          .then(() => sharp(bytes).metadata())
          .catch(() => undefined);
        if (!found || !/^(?:png|jpeg|gif|webp)$/.test(found.format ?? "")) {
          return "Could not process image";
        }
        if (type !== `image/${found.format}`) return "The image does not have the media type";
        break;
      }
      case "file":
        if (!part.file.file_data.startsWith("data:application/pdf;base64,JVBER")) {
          return "The PDF specified was not valid";
        }
        break;
      default:
        return `unknown variant ${part.type}`;
    }
  }
  return undefined;
}
