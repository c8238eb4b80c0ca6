/**
 * Makes the prompt of every model call acceptable. A chat stores what models, people and tools have written, in any
 * form, and a strict server rejects all requests of the chat for one part that breaks its rules.
 */
import { createHash } from "node:crypto";
import type {
  LanguageModelV4,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
} from "@ai-sdk/provider";
import { wrapLanguageModel } from "ai";
import { imageTypeOf } from "../image-type.ts";

type Message<R extends string> = Extract<LanguageModelV4Message, { role: R }>;
type UserPart = Message<"user">["content"][number];
type AssistantPart = Message<"assistant">["content"][number];
type ToolPart = Message<"tool">["content"][number];
type CallPart = Extract<AssistantPart, { type: "tool-call" }>;
type ResultPart = Extract<ToolPart, { type: "tool-result" }>;

const NOT_RUN = { type: "error-text", value: "Not run" } as const;
/** Stands for a message without a text, which must not be empty. */
const NO_TEXT = "(no text)";
const NO_OUTPUT = "(no output)";
const CONTINUE = "Continue.";

/** Returns the model, which gets only prompts that all servers accept. */
export function acceptPrompts(model: LanguageModelV4): LanguageModelV4 {
  return wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: "v4",
      transformParams: async ({ params }) => ({
        ...params,
        prompt: acceptablePrompt(params.prompt),
      }),
    },
  });
}

/**
 * Returns the prompt with these guarantees: it starts and ends with a message of the user or the results of calls,
 * and roles alternate; no text is blank, and all text is well-formed UTF-16; each call has an object as its input, a
 * name and a unique id of at most 64 letters, digits, hyphens and underscores, and one result, which follows it;
 * files are whole images of a common type, or PDFs.
 */
function acceptablePrompt(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const instructions: LanguageModelV4Prompt = [];
  const dialog: LanguageModelV4Prompt = [];
  const add = (message: LanguageModelV4Message): void => {
    const last = dialog.at(-1);
    if (last?.role === "user" && message.role === "user") {
      dialog[dialog.length - 1] = { ...last, content: joinTexts(last.content, message.content) };
    } else if (last?.role === "assistant" && message.role === "assistant") {
      dialog[dialog.length - 1] = { ...last, content: [...last.content, ...message.content] };
    } else dialog.push(message);
  };
  const ids = new Set<string>();
  const calling = withResults(wellFormed(prompt), (call) => acceptableCall(call, ids));
  for (const message of calling) {
    switch (message.role) {
      case "system":
        if (!isBlank(message.content)) instructions.push(message);
        break;
      case "user":
        add({ ...message, content: userContent(message.content) });
        break;
      case "assistant": {
        const content = assistantContent(message.content);
        if (content.length === 0) break;
        if (dialog.length === 0) add(userMessage(CONTINUE));
        add({ ...message, content });
        break;
      }
      case "tool":
        add(message);
    }
  }
  const role = dialog.at(-1)?.role;
  if (role !== "user" && role !== "tool") add(userMessage(CONTINUE));
  return [...instructions, ...dialog];
}

const userMessage = (text: string): Message<"user"> => ({
  role: "user",
  content: [{ type: "text", text }],
});

const isBlank = (text: string): boolean => text.trim() === "";

/** Returns the value with well-formed texts and keys. */
function wellFormed<T>(value: T): T {
  if (typeof value === "string") return value.toWellFormed() as T;
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Uint8Array || value instanceof URL) return value;
  if (Array.isArray(value)) return value.map(wellFormed) as T;
  const entries = Object.entries(value);
  return Object.fromEntries(
    entries.map(([key, each]) => [key.toWellFormed(), wellFormed(each)]),
  ) as T;
}

interface Calling {
  readonly role: string;
  readonly content: unknown;
}

/**
 * Returns the messages with one result of each call, in one message right after the calls: the next result of the
 * call's id, or a note that the call was not run. Results without a call are left out.
 * @param adapt returns a call with the id and the name that its result has, too
 */
export function withResults<M extends Calling>(
  messages: readonly M[],
  adapt: (call: CallPart) => CallPart = (call) => call,
): M[] {
  /** The results that are still to be found, by the ids of calls, which a later message may use again. */
  const open = new Map<string, ResultPart[]>();
  return messages.flatMap((message) => {
    const parts = partsOf(message);
    if (message.role === "tool") {
      for (const part of parts) {
        if (part.type !== "tool-result") continue;
        const result = open.get(part.toolCallId)?.shift();
        if (result) Object.assign(result, { ...part, ...result, output: outputOf(part) });
      }
      return [];
    }
    for (const part of parts) if (part.type === "tool-call") open.delete(part.toolCallId);
    /** The results of calls that the provider has run, which are in the same message. */
    const given = new Set(parts.map((part) => part.type === "tool-result" && part.toolCallId));
    const results: ResultPart[] = [];
    const content = parts.flatMap((part): (AssistantPart | ToolPart)[] => {
      if (part.type !== "tool-call") return [part];
      if (part.providerExecuted) return given.has(part.toolCallId) ? [part] : [];
      const call = adapt(part);
      const { toolCallId, toolName } = call;
      const result: ResultPart = { type: "tool-result", toolCallId, toolName, output: NOT_RUN };
      open.set(part.toolCallId, [...(open.get(part.toolCallId) ?? []), result]);
      results.push(result);
      return [call];
    });
    if (parts.length === 0) return [message];
    const calling = { ...message, content };
    return results.length > 0
      ? [calling, { role: "tool", content: results } as unknown as M]
      : [calling];
  });
}

const partsOf = ({ role, content }: Calling): readonly (AssistantPart | ToolPart)[] =>
  (role === "assistant" || role === "tool") && Array.isArray(content) ? content : [];

function outputOf({ output }: ResultPart): ResultPart["output"] {
  const isEmpty = "value" in output && typeof output.value === "string" && isBlank(output.value);
  return isEmpty ? ({ ...output, value: NO_OUTPUT } as ResultPart["output"]) : output;
}

const MAX_ID_CHARS = 64;
const NAME = /^[a-zA-Z_][\w-]{0,63}$/;
const ID = /^[\w-]{1,64}$/;

/** @param ids the ids of earlier calls: servers count their calls from 0 in each answer */
function acceptableCall(call: CallPart, ids: Set<string>): CallPart {
  const { toolCallId } = call;
  let id = toolCallId;
  for (let n = ids.size; ids.has(id) || !ID.test(id); n++) id = idOf(`${toolCallId} ${n}`);
  ids.add(id);
  return { ...call, toolCallId: id, toolName: nameOf(call.toolName), input: inputOf(call.input) };
}

const idOf = (text: string): string =>
  `call_${createHash("sha256").update(text).digest("hex").slice(0, 16)}`;

/** Returns a name of a tool that a model has invented in the form that servers accept. */
function nameOf(name: string): string {
  if (NAME.test(name)) return name;
  const plain = name.replace(/[^\w-]/g, "_").slice(0, MAX_ID_CHARS - 1);
  return /^[a-zA-Z_]/.test(plain) ? plain : `_${plain}`;
}

/** Returns the input of a call as an object. An invalid one is stored as the text that the model has written. */
function inputOf(input: unknown): unknown {
  if (typeof input === "object" && input !== null && !Array.isArray(input)) return input;
  if (typeof input !== "string") return input === undefined || input === null ? {} : { input };
  try {
    const parsed: unknown = JSON.parse(input);
    if (typeof parsed !== "string") return inputOf(wellFormed(parsed));
  } catch {}
  return isBlank(input) || input === '""' ? {} : { input };
}

/** Reasoning without an answer is left out: no server accepts a message of it alone. */
function assistantContent(parts: readonly AssistantPart[]): AssistantPart[] {
  const kept = parts.filter((part) => {
    if (part.type === "text") return !isBlank(part.text);
    return part.type !== "reasoning" || !isBlank(part.text) || part.providerOptions;
  });
  if (kept.some(({ type }) => type === "text" || type === "tool-call")) return kept;
  const isFile = kept.some(({ type }) => type === "file" || type === "reasoning-file");
  return isFile ? [...kept, { type: "text", text: "(a file)" }] : [];
}

/** Texts that follow each other are one, because some servers read only messages of one text. */
function userContent(parts: readonly UserPart[]): UserPart[] {
  const content = joinTexts(
    [],
    parts.flatMap((part): UserPart[] => {
      if (part.type === "file") return [fileOf(part)];
      return isBlank(part.text) ? [] : [part];
    }),
    "\n",
  );
  return content.length > 0 ? content : [{ type: "text", text: NO_TEXT }];
}

function joinTexts(
  parts: readonly UserPart[],
  added: readonly UserPart[],
  gap = "\n\n",
): UserPart[] {
  const joined = [...parts];
  for (const part of added) {
    const last = joined.at(-1);
    const isJoined =
      last?.type === "text" &&
      part.type === "text" &&
      !last.providerOptions &&
      !part.providerOptions;
    if (isJoined) joined[joined.length - 1] = { ...last, text: last.text + gap + part.text };
    else joined.push(part);
  }
  return joined;
}

type FilePart = Extract<UserPart, { type: "file" }>;

/** Returns a file with its own type, or its name if models do not accept it. */
function fileOf(part: FilePart): UserPart {
  const { data, mediaType, filename = "" } = part;
  if (data.type === "url" || data.type === "reference") return part;
  if (data.type === "data") {
    const bytes = typeof data.data === "string" ? Buffer.from(data.data, "base64") : data.data;
    if (/^image\b/i.test(mediaType)) {
      const type = imageTypeOf(bytes);
      if (type) return { ...part, mediaType: type };
    }
    const isPdf = Buffer.from(bytes.subarray(0, 5)).toString("latin1") === "%PDF-";
    if (mediaType === "application/pdf" && isPdf) return part;
  }
  const text = `Attached file: ${JSON.stringify(filename)} (${mediaType}), which is not shown, because its content is not of a type that models read`;
  return { type: "text", text };
}
