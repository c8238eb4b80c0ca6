/**
 * Reasoning, and the calls that follow it, are signed by providers. They are returned to the provider that has made
 * them, which may require them, and never sent to another one, which may reject them.
 */
import type { SharedV4ProviderMetadata } from "@ai-sdk/provider";
import type { ModelMessage, UIMessageChunk } from "ai";

/** The key among the metadata of providers under which a part names its model. */
const MARK = "agentPlatform";

/** Returns the metadata of a part with the model that has made it. */
const marked = (metadata: SharedV4ProviderMetadata | undefined, modelId: string) => ({
  ...metadata,
  [MARK]: { modelId },
});

/** Returns the chunk of a model's answer with the model, if it belongs to reasoning or has metadata. */
export function markChunk(chunk: UIMessageChunk, modelId: string): UIMessageChunk {
  const isSigned = "providerMetadata" in chunk && chunk.providerMetadata !== undefined;
  if (!isSigned && chunk.type !== "reasoning-start") return chunk;
  const metadata = "providerMetadata" in chunk ? chunk.providerMetadata : undefined;
  return { ...chunk, providerMetadata: marked(metadata, modelId) } as UIMessageChunk;
}

/** Returns the messages of a model's answer with the model, where they are reasoning or have metadata. */
export const markMessages = (messages: readonly ModelMessage[], modelId: string): ModelMessage[] =>
  messages.map((message) => {
    if (message.role !== "assistant" || typeof message.content === "string") return message;
    const content = message.content.map((part) =>
      "providerOptions" in part || part.type === "reasoning"
        ? { ...part, providerOptions: marked(part.providerOptions, modelId) }
        : part,
    );
    return { ...message, content } as ModelMessage;
  });

/**
 * Returns the messages as the model gets them: without the reasoning and the metadata of other providers' models, and
 * without metadata of users' messages and of tool results.
 */
export function signedFor(messages: readonly ModelMessage[], modelId: string): ModelMessage[] {
  const provider = providerOf(modelId);
  return messages.flatMap((message) => {
    if (message.role === "system" || typeof message.content === "string") return [message];
    const content = message.content.flatMap((part) => {
      if (!("providerOptions" in part)) return [part];
      const { providerOptions, ...unsigned } = part;
      // Only models sign. The options of a client's message could replace fields of the request, such as its role.
      if (message.role !== "assistant") return [unsigned];
      const { [MARK]: mark, ...options } = providerOptions ?? {};
      if (mark === undefined) return [part];
      const isOwn = providerOf(String(mark.modelId)) === provider;
      if (!isOwn && part.type === "reasoning") return [];
      const isSigned = isOwn && Object.keys(options).length > 0;
      return [isSigned ? { ...unsigned, providerOptions: options } : unsigned];
    });
    return content.length === 0 ? [] : [{ ...message, content } as ModelMessage];
  });
}

/** Returns the provider in an id such as `anthropic/claude-sonnet-4.5`; the id itself if it names none. */
const providerOf = (modelId: string): string => modelId.split("/", 1)[0] ?? modelId;
