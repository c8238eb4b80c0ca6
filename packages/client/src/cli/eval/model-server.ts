/** A server with the chat completions API of OpenAI that gives recorded answers, and compares the requests. */
import { once } from "node:events";
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import type { RecordedStep, Recording } from "./recording.ts";

interface Completion {
  readonly model: string;
  readonly messages: readonly { role: string; content?: unknown; tool_call_id?: string }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

const MAX_DIFF_LINES = 10;
const MAX_LINE_CHARS = 200;

/** Resolves to the server, and to the requests that it has answered with what differs from the recorded ones. */
export async function startModelServer(recordings: ReadonlyMap<string, Recording>, port: number) {
  const steps: { case: string; step: number; differences: string[] }[] = [];
  const server = createServer(async (request, response) => {
    try {
      if (request.method === "GET") {
        const models = [...recordings.values()].map(({ model: id, context_window }) => {
          return { id, object: "model", max_model_len: context_window };
        });
        return response.end(JSON.stringify({ object: "list", data: models }));
      }
      const body = (await json(request)) as Completion;
      const { name, index, step } = findStep(recordings, body);
      steps.push({ case: name, step: index + 1, differences: [...differencesOf(step, body)] });
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const event of eventsOf(step, body)) response.write(`data: ${event}\n\n`);
      response.end();
    } catch (error) {
      response.writeHead(400).end(JSON.stringify({ error: { message: String(error) } }));
    }
  });
  await once(server.listen(port, "127.0.0.1"), "listening");
  return { server, steps };
}

/**
 * Returns the recorded step of a request: the newest message that contains a prompt shows the work, and the answers
 * after it the step. The platform puts a line before the prompt, and names of files after it. @throws Error
 */
function findStep(recordings: ReadonlyMap<string, Recording>, request: Completion) {
  const { messages, tools = [] } = request;
  const works = [...recordings]
    .flatMap(([name, recording]) => recording.works.map((work) => ({ name, ...work })))
    .sort((one, other) => other.prompt.length - one.prompt.length);
  for (const [place, { role, content }] of [...messages.entries()].reverse()) {
    const text = textOf(content);
    const work = role === "user" && works.find(({ prompt }) => text.includes(prompt.trim()));
    // Titles and summaries are requested without tools, and are not recorded.
    if (!work || tools.length === 0) continue;
    const index = messages.slice(place).filter((message) => message.role === "assistant").length;
    const step = work.steps[index];
    if (!step) throw new Error(`The recording of ${work.name} ends before this request`);
    return { name: work.name, index, step };
  }
  throw new Error("No recording has this request");
}

function* differencesOf(step: RecordedStep, { messages, tools = [] }: Completion) {
  for (const name of step.tools) {
    if (!tools.some((tool) => tool.function.name === name)) yield `The tool ${name} is gone`;
  }
  const count = messages.filter(({ role }) => role !== "system").length;
  const recorded = step.messages ?? count;
  if (count !== recorded) yield `${count} messages in place of ${recorded}`;
  for (const { tool_call_id, tool_name, text, cut_chars } of step.results) {
    const given = messages.findLast((message) => message.tool_call_id === tool_call_id);
    const shown = textOf(given?.content).slice(0, cut_chars > 0 ? text.length : undefined);
    if (!given) yield `The result of ${tool_name} is missing`;
    else if (shown !== text) yield `The result of ${tool_name} differs\n${diff(text, shown)}`;
  }
}

/** Returns the lines that only one of two texts has, the first ones of each. */
function diff(recorded: string, given: string): string {
  const [before, after] = [recorded.split("\n"), given.split("\n")];
  const only = (sign: string, all: readonly string[], others: ReadonlySet<string>) => {
    const lines = all.filter((line) => !others.has(line));
    const rest = lines.length - MAX_DIFF_LINES;
    const shown = lines
      .slice(0, MAX_DIFF_LINES)
      .map((line) => sign + line.slice(0, MAX_LINE_CHARS));
    return rest > 0 ? [...shown, `${sign}(${rest} more lines)`] : shown;
  };
  return [...only("- ", before, new Set(after)), ...only("+ ", after, new Set(before))].join("\n");
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map((part) => part?.text ?? "").join("\n") : "";
}

function* eventsOf({ answer }: RecordedStep, { model, messages }: Completion): Generator<string> {
  const tool_calls = answer
    .filter(({ type }) => type === "tool_call")
    .map(({ tool_call_id: id, tool_name: name, text }, index) => ({
      ...{ index, id, type: "function", function: { name, arguments: text } },
    }));
  const texts = answer.filter(({ type }) => type === "text").map(({ text }) => text);
  const delta = { role: "assistant", content: texts.join(""), tool_calls };
  const tokensOf = (part: object) => Math.ceil(JSON.stringify(part).length / 4);
  const usage = { prompt_tokens: tokensOf(messages), completion_tokens: tokensOf(delta) };
  const event = (fields: object) => JSON.stringify({ id: "recorded", model, ...fields });
  const finish_reason = tool_calls.length > 0 ? "tool_calls" : "stop";
  yield event({ choices: [{ index: 0, delta, finish_reason }] });
  yield event({ choices: [], usage });
  yield "[DONE]";
}
