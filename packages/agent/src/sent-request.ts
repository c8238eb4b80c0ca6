/**
 * The record of the request of a model call. Requests grow with each call, so they are not stored: a trace puts
 * a request together again from the conversation, and these digests show whether it is the one that was sent.
 */
import { createHash } from "node:crypto";
import { asSchema, type ModelMessage, type ToolSet } from "ai";

export interface RequestDigests {
  readonly instructions: string;
  readonly tools: string;
  /** Without the bytes of files and the metadata of providers. */
  readonly messages: string;
}

interface Request {
  readonly instructions: string;
  readonly tools: ToolSet;
  readonly messages: readonly ModelMessage[];
}

export async function digestsOf({
  instructions,
  tools,
  messages,
}: Request): Promise<RequestDigests> {
  return {
    instructions: digest(instructions),
    tools: await digestOfTools(tools),
    messages: digest(messages.map(digestOfMessage).join()),
  };
}

const digest = (text: string): string =>
  createHash("sha256").update(text).digest("base64url").slice(0, 22);

/** The calls of a turn share their tools and messages. */
const digestsOfTools = new WeakMap<ToolSet, Promise<string>>();
const digestsOfMessages = new WeakMap<ModelMessage, string>();

function digestOfTools(tools: ToolSet): Promise<string> {
  const made =
    digestsOfTools.get(tools) ?? describeTools(tools).then((each) => digest(JSON.stringify(each)));
  digestsOfTools.set(tools, made);
  return made;
}

function digestOfMessage(message: ModelMessage): string {
  const known = digestsOfMessages.get(message);
  if (known !== undefined) return known;
  const text = JSON.stringify(message, (key, value: unknown) => {
    if (key === "providerOptions") return undefined;
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    if ("data" in value && "mediaType" in value) return { mediaType: value.mediaType };
    // A stored value may have its keys in another order than one in memory.
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
  const made = digest(text);
  digestsOfMessages.set(message, made);
  return made;
}

type DescribedTools = readonly {
  readonly name: string;
  readonly description: string;
  readonly schema: unknown;
}[];

const described = new WeakMap<ToolSet, Promise<DescribedTools>>();

/** Returns the tools as a model gets them. */
export function describeTools(tools: ToolSet): Promise<DescribedTools> {
  const known =
    described.get(tools) ??
    Promise.all(
      Object.entries(tools).map(async ([name, { description, inputSchema }]) => ({
        name,
        description: typeof description === "string" ? description : "",
        schema: await asSchema(inputSchema).jsonSchema,
      })),
    );
  described.set(tools, known);
  return known;
}
